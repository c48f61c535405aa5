// Texts that functions build: none is longer than a value may be, and the length is known before the text is made.
import { VALUE_SIZE_MAX } from '#hcl/evaluate/evaluation-budget.ts'
import { HclArgumentError } from './function.ts'

/** The parts with the separator between them. Throws HclArgumentError beyond the limit. */
export function joinBounded(parts: readonly string[], separator: string): string {
  let length = separator.length * Math.max(0, parts.length - 1)
  for (const part of parts) length += part.length
  checkLength(length)
  return parts.join(separator)
}

export function checkLength(length: number): void {
  if (length > VALUE_SIZE_MAX)
    throw new HclArgumentError(`Expected a result of at most ${VALUE_SIZE_MAX} characters`)
}
