// The blob stores of this installation by location: a row names the location of a blob, and this maps the location to
// its store. The location of files is `fs`; that of an upstream is its address, so that a row can be read by itself.
import { fault } from '#contract/errors.ts'
import type { Clock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { BlobRef, BlobStore } from './blob.ts'
import { createFsStore } from './fs-store.ts'
import type { S3Settings } from './s3-open.ts'

export const FS_LOCATION = 'fs'

export type BlobSettings = {
  /** The folder of the file store. */
  readonly folder: string
  /** The location of new blobs: `fs`, or `s3://bucket/prefix`. */
  readonly target: string
  /** Every place where blobs may be. */
  readonly locations: readonly string[]
  /** Of each of them that is upstream. */
  readonly s3: Readonly<Record<string, S3Settings>>
}

export type BlobStores = ReadonlyMap<string, BlobStore>

export type OpenBlobStores = {
  readonly byLocation: BlobStores
  /** Where new blobs go. */
  readonly target: BlobStore
  /** The one on our own disk, where the state is as well. */
  readonly local: BlobStore
}

/** Opens the stores without a request to an upstream, so that a start does not need the upstreams. */
export async function openBlobStores(
  settings: BlobSettings,
  { log, clock }: { log: Logger; clock: Clock },
): Promise<OpenBlobStores> {
  const { folder, target, locations, s3 } = settings
  const local = await createFsStore({ folder, location: FS_LOCATION, log, clock })
  const stores = [local]
  for (const location of locations) {
    if (location === FS_LOCATION) continue
    // Loaded where it is needed: the client library takes 0.2 s of each start.
    const { openS3Store } = await import('./s3-open.ts')
    stores.push(
      openS3Store(location, present(s3[location], `the key of ${location} is known`), log),
    )
  }
  const byLocation = createBlobStores(stores)
  return { byLocation, target: storeOf(byLocation, { location: target }), local }
}

export const createBlobStores = (stores: readonly BlobStore[]): BlobStores =>
  new Map(stores.map((store) => [store.location, store]))

/** Throws `blob_location_unknown`: rows name a store that is not configured any more. */
export function storeOf(stores: BlobStores, { location }: Pick<BlobRef, 'location'>): BlobStore {
  const store = stores.get(location)
  if (store !== undefined) return store
  throw fault(
    'blob_location_unknown',
    `Could not read a blob: no store is configured for its location: ${location}`,
  )
}
