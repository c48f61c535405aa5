// Values that several actions of a lifecycle rule have.
import { storageFault } from '#storage/errors.ts'
import { integerOf } from '#storage/s3/xml/fields.ts'
import type { XmlElement } from '#storage/s3/xml/read.ts'

export const DAY_MS = 86_400_000
const NEWER_MAX = 100

export type Expiration =
  | { readonly days: number }
  | { readonly dateMs: number }
  | { readonly deleteMarker: boolean }

/** Throws InvalidArgument. */
export function midnight(value: string): number {
  const found = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN
  if (found % DAY_MS !== 0) throw storageFault('InvalidArgument', "'Date' must be at midnight GMT")
  return found
}

/** How many newer noncurrent versions an action leaves alone. Throws InvalidArgument. */
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
