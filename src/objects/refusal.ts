// The functions in SQL refuse by the code of an S3 error, so that a refusal is an answer and no exception.
import { invariant } from '#base/errors.ts'
import { type StorageCode, isStorageCode, storageFault } from '#contract/storage-errors.ts'

/** The code, checked to be one that the door may answer with. */
export function storageCode(refused: string): StorageCode {
  invariant(isStorageCode(refused), `The state refused with an unknown code: ${refused}`)
  return refused
}

/** Throws the S3 error when the state refused. */
export function refuse(refused: string | null | undefined): void {
  if (refused !== null && refused !== undefined) throw storageFault(storageCode(refused))
}
