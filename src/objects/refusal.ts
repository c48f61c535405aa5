// SQL functions return the code of an error instead of raising an exception.
import { invariant } from '#base/errors.ts'
import { type StorageCode, isStorageCode, storageFault } from '#contract/storage/storage-errors.ts'

/** The code, checked against contract/storage/storage-errors.ts. */
export function storageCode(refused: string): StorageCode {
  invariant(isStorageCode(refused), `The state refused with an unknown code: ${refused}`)
  return refused
}

/** Throws the error when the SQL function returned a code. */
export function throwRefused(refused: string | null | undefined): void {
  if (refused !== null && refused !== undefined) throw storageFault(storageCode(refused))
}
