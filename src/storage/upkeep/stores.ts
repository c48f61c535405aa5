// The blob stores of this installation by location: rows say where a blob is, this says who reads it.
import type { BlobRef, BlobStore } from '#blobs/blob.ts'
import { ErgonError } from '#base/errors.ts'

export type BlobStores = ReadonlyMap<string, BlobStore>

export const createBlobStores = (stores: readonly BlobStore[]): BlobStores =>
  new Map(stores.map((store) => [store.location, store]))

/** Throws `blob_location_unknown`: rows name a store that is not configured any more. */
export function storeOf(stores: BlobStores, { location }: Pick<BlobRef, 'location'>): BlobStore {
  const store = stores.get(location)
  if (store !== undefined) return store
  throw new ErgonError(
    { code: 'blob_location_unknown', status: 500 },
    `Could not read a blob: no store is configured for its location: ${location}`,
  )
}
