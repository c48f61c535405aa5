// The parts that the operations of S3 are made of, each created once. An operation names those that it uses.
import type { TimerClock } from '#base/clock.ts'
import type { Logger, Secret } from '#base/log.ts'
import type { OpenBlobStores } from '#blobs/stores.ts'
import type { Payer } from '#charging/spend.ts'
import type { Identity } from '#identity/identity.ts'
import type { Marks } from '#metering/marks.ts'
import { createBlobReader } from '#objects/blob-reader.ts'
import { createAnnotations } from '#objects/create-annotations.ts'
import { createBuckets } from '#objects/create-buckets.ts'
import { createEvents } from '#objects/create-events.ts'
import { createListings } from '#objects/create-listings.ts'
import { createObjects } from '#objects/create-objects.ts'
import { createUploads } from '#objects/create-uploads.ts'
import { createDamages, placeOfBucket, placeOfKey } from '#objects/damage.ts'
import { createDocuments } from '#objects/documents.ts'
import { createVault } from '#objects/encryption/vault.ts'
import type { Objects } from '#objects/objects.ts'
import { patientState } from '#objects/when-free.ts'
import type { Bucket } from '#objects/types.ts'
import type { Queryable } from '#state/connect.ts'
import { createCallers } from './authentication/callers.ts'
import type { DerivedKeys } from './authentication/derived-keys.ts'
import { createSignatureVerifier } from './authentication/verify.ts'
import { createAdmitTransfer } from './body/admit-transfer.ts'
import { createReceiver } from './body/receive.ts'
import type { StorageRequest } from './call.ts'
import { createHashers } from './checksums/algorithms.ts'
import { createSumThread } from './checksums/sum-thread.ts'
import { createEncrypting } from './encryption/encrypting.ts'
import { createEarlyPages } from './listing/early-pages.ts'
import type { OwnerOf } from './listing/entries.ts'
import { writtenAttributes } from './objects/written-attributes.ts'
import type { Directory } from './policy/acl-drafts.ts'
import { createAccess } from './policy/access.ts'
import type { StorageSettings } from './settings.ts'

export type StorageOptions = {
  readonly state: Queryable
  /** The state for the finds of every request, for puts, which may wait for each other, and for long lists. */
  readonly finds: Queryable
  readonly puts: Queryable
  readonly lists: Queryable
  readonly blobs: OpenBlobStores
  readonly identity: Identity
  readonly keys: DerivedKeys
  readonly payerOf: (account: string) => Payer | Promise<Payer>
  /** The accounts that an ACL may name. */
  readonly directory: Directory
  /** The secret from which the keys of encrypted objects are derived. */
  readonly secret: Secret
  /** The current version of a named key. */
  readonly keyVersionOf: (name: string) => number
  readonly clock: TimerClock
  readonly log: Logger
  readonly marks: Marks
  readonly settings: StorageSettings
}

export type Parts = ReturnType<typeof createParts>

/** Starts no work; the thread that sums large bodies starts with the first of them. */
export function createParts(options: StorageOptions) {
  const { finds, blobs, identity, clock, settings, marks, log, directory, payerOf } = options
  const state = patientState(options.state, clock)
  const documents = createDocuments({ state })
  const damages = createDamages({ state, log })
  const { bucketsMax } = settings
  const buckets = damages.telling(
    createBuckets({ state, finds, documents, clock, bucketsMax }),
    placeOfBucket,
  )
  const objects: Objects = damages.telling(
    createObjects({ state, finds, puts: options.puts, documents, clock, damages }),
    placeOfKey,
  )
  const hashers = createHashers()
  const admitTransfer = createAdmitTransfer({ payerOf })
  const access = createAccess({ buckets, objects, clock, admitTransfer })
  const vault = createVault({
    secret: options.secret.reveal(),
    keyIds: settings.keyIds,
    versionOf: options.keyVersionOf,
  })
  const ownerOf: OwnerOf = (account) => ({ id: account, displayName: account })
  return {
    access,
    admitTransfer,
    annotations: damages.telling(createAnnotations({ state }), placeOfKey),
    attributesOf: (request: StorageRequest, bucket: Bucket) =>
      writtenAttributes(request, bucket, { access, directory, nowMs: clock.wallMs() }),
    blobs: createBlobReader({ stores: blobs.byLocation, finds, damages }),
    buckets,
    callers: createCallers({ identity, keys: options.keys }),
    clock,
    damages,
    directory,
    encrypting: createEncrypting(vault),
    events: damages.telling(createEvents({ state }), placeOfBucket),
    hashers,
    listings: damages.telling(createListings(options), placeOfBucket),
    objects,
    ownerOf,
    pages: createEarlyPages({ access }),
    receiver: createReceiver({
      blobs: blobs.target,
      local: blobs.local,
      hashers,
      sumThread: createSumThread({ marks, hashers, clock, log }),
    }),
    settings,
    uploads: damages.telling(createUploads({ state, clock }), placeOfKey),
    verifier: createSignatureVerifier({ now: () => clock.wallMs() }),
  }
}
