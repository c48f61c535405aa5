// Values that several actions of a lifecycle rule have.
import { DAY_MS } from '#objects/lifecycle/rules.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { integerOf } from '#s3/xml/fields.ts'
import type { XmlElement } from '#s3/xml/read.ts'

const NEWER_MAX = 100

/** Throws InvalidArgument. */
export function midnight(value: string): number {
  const found = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN
  if (found % DAY_MS !== 0) throw storageFault('InvalidArgument', "'Date' must be at midnight GMT")
  return found
}

/** The number of newer noncurrent versions to keep. Throws InvalidArgument. */
export function keepNewerOf(element: XmlElement | undefined): { keepNewer?: number } {
  if (element === undefined) return {}
  const keepNewer = integerOf(element)
  if (keepNewer < 1 || keepNewer > NEWER_MAX)
    throw storageFault(
      'InvalidArgument',
      `'NewerNoncurrentVersions' must be between 1 and ${NEWER_MAX}`,
    )
  return { keepNewer }
}
