// Compares signatures in constant time: stopping at the first difference would reveal its position.
import { timingSafeEqual } from 'node:crypto'

/** True when two signatures are equal; takes constant time. */
export function sameSignature(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
