// Compares signatures: a comparison that stops at the first difference would tell where that is.
import { timingSafeEqual } from 'node:crypto'

/** Whether two signatures are the same text, in a time that does not tell where they differ. */
export function sameSignature(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
