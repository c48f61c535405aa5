// The errors of blobs, with codes of contract/errors.ts.
import { fault } from '#contract/errors.ts'
import { messageOf } from '#base/errors.ts'

export const storageFull = (cause?: unknown) =>
  fault('storage_full', 'Could not store the bytes: the disk is full', {
    ...(cause !== undefined && { cause }),
  })

export const storageFenced = (reason: string, cause?: unknown) =>
  fault(
    'storage_fenced',
    `Could not store the bytes: the store is read only since a disk error: ${reason}`,
    { ...(cause !== undefined && { cause }) },
  )

/** A store on another machine does not answer. The caller of the store may retry. */
export const storageAway = (cause?: unknown) =>
  fault('storage_away', 'Could not reach the bytes: their store does not answer', {
    retryAfterS: 5,
    ...(cause !== undefined && { cause }),
  })

export const tooManyPuts = () =>
  fault(
    'overloaded',
    'Could not take the bytes: too many large bodies are on their way to the store',
    { retryAfterS: 1 },
  )

export const bodyTooLarge = (sizeMax: number) =>
  fault('body_too_large', `Could not store more than the greatest size: ${sizeMax} bytes`)

export const blobMissing = (id: string, cause?: unknown) =>
  fault('blob_missing', `Could not find the bytes of a blob: ${id}`, {
    ...(cause !== undefined && { cause }),
  })

export const blobDamaged = (id: string, found: string, cause?: unknown) =>
  fault('blob_damaged', `Could not trust blob ${id}: ${found}`, {
    ...(cause !== undefined && { cause }),
  })

/** The fault of bytes in a row of the state. */
export const bodyDamaged = (found: string, cause?: unknown) =>
  fault('blob_damaged', `Could not trust the bytes in a row: ${found}`, {
    ...(cause !== undefined && { cause }),
  })

const OF_BLOB = new Set(['blob_missing', 'blob_damaged', 'EIO'])
/** True for an error of one blob, whose bytes are damaged or gone. A disk answers EIO for an unreadable sector. */
export const isOfBlob = (error: unknown): boolean => OF_BLOB.has(codeOf(error))

/** True for a store that does not answer: the blob itself may be sound. */
export const isAway = (error: unknown): boolean => codeOf(error) === 'storage_away'

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
/** The disk's own error: its errno, else its message. */
export const reasonOf = (error: unknown): string => codeOf(error) || messageOf(error)
