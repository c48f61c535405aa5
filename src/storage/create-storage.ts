// Object storage, put together: the S3 door over the state and the blobs.
import type { TimerClock } from '#base/clock.ts'
import type { Logger, Secret } from '#base/log.ts'
import type { OpenBlobStores } from '#blobs/stores.ts'
import type { Payer } from '#charging/spend.ts'
import type { Door } from '#http/door.ts'
import type { Marks } from '#metering/marks.ts'
import type { Identity } from '#identity/tokens.ts'
import type { Queryable } from '#state/connect.ts'
import { createBlobReader } from './blob-reader.ts'
import { createDamages, type Damages } from './damage.ts'
import { createAnnotations } from './objects/create-annotations.ts'
import { createBuckets } from './objects/create-buckets.ts'
import { createDocuments } from './objects/documents.ts'
import { createEvents } from './objects/create-events.ts'
import { createListings } from './objects/create-listings.ts'
import { createObjects } from './objects/create-objects.ts'
import { createUploads } from './objects/create-uploads.ts'
import { createAccess } from './s3/access.ts'
import { AccessLog } from './s3/access-log/access-log.ts'
import { createDeliver } from './s3/access-log/deliver.ts'
import { createLoggedBuckets } from './s3/access-log/logged-buckets.ts'
import { createRecord } from './s3/access-log/record.ts'
import { createVault } from './encryption/vault.ts'
import { createEncrypting } from './s3/encrypting.ts'
import { createAdmitTransfer } from './s3/admit-transfer.ts'
import { createHashers } from './s3/checksums/algorithms.ts'
import { createSumThread } from './s3/checksums/sum-thread.ts'
import { createHandlers } from './s3/create-handlers.ts'
import type { StorageSettings } from './s3/deps.ts'
import { createClientOf } from '#http/client-of.ts'
import { createS3Door } from './s3/door.ts'
import { createCallers } from './s3/callers.ts'
import type { DerivedKeys } from './s3/signature/derived-keys.ts'
import { createUnserved } from './s3/operations/unserved.ts'
import { createReceiver } from './s3/receive.ts'
import { createWebsiteDoor } from './s3/website-door.ts'
import type { Directory } from './s3/documents/acl-drafts.ts'
import { writtenAttributes } from './s3/written-attributes.ts'
import { createVerifier } from './s3/signature/verify.ts'

export type StorageOptions = {
  readonly state: Queryable
  readonly blobs: OpenBlobStores
  readonly identity: Identity
  readonly keys: DerivedKeys
  readonly payerOf: (account: string) => Payer | Promise<Payer>
  /** Who may be named in an ACL. */
  readonly directory: Directory
  /** What the keys of encrypted objects follow from. */
  readonly secret: Secret
  /** The current version of a named key. */
  readonly keyVersionOf: (name: string) => number
  readonly clock: TimerClock
  readonly log: Logger
  readonly marks: Marks
  /** The names that the service answers to. */
  readonly hosts: readonly string[]
  readonly settings: StorageSettings
}

/** The S3 protocol, and the websites of buckets. */
export type StorageDoors = {
  readonly storage: Door
  readonly website: Door
  readonly accessLog: AccessLog
  readonly damages: Pick<Damages, 'met'>
}

export function createStorageDoors(options: StorageOptions): StorageDoors {
  const { state, blobs, identity, clock, hosts, settings, marks, log, directory } = options
  const documents = createDocuments({ state })
  const buckets = createBuckets({ state, documents, clock, bucketsMax: settings.bucketsMax })
  const objects = createObjects({ state, documents, clock })
  const damages = createDamages({ state, log })
  const hashers = createHashers()
  const admitTransfer = createAdmitTransfer({ payerOf: options.payerOf })
  const callers = createCallers({ identity, keys: options.keys })
  const verifier = createVerifier({ now: () => clock.wallMs() })
  // After work that nobody asked for.
  const mark = () => marks.mark(marks.operator)
  const sumThread = createSumThread({ marks, hashers, clock, log })
  const { target, local } = blobs
  const receiver = createReceiver({ blobs: target, local, hashers, sumThread })
  const encrypting = createEncrypting(
    createVault({
      secret: options.secret.reveal(),
      keyIds: settings.keyIds,
      versionOf: options.keyVersionOf,
    }),
  )
  const accessLog = new AccessLog({
    deliver: createDeliver({ buckets, objects, receiver, encrypting, clock, mark }),
    clock,
    log,
  })
  const access = createAccess({ buckets, objects, clock, admitTransfer })
  const handlers = createHandlers({
    access,
    buckets,
    objects,
    annotations: createAnnotations({ state }),
    events: createEvents({ state }),
    listings: createListings({ state }),
    uploads: createUploads({ state, clock }),
    receiver,
    hashers,
    admitTransfer,
    blobs: createBlobReader(blobs.byLocation, damages),
    ownerOf: (account) => ({ id: account, displayName: account }),
    attributesOf: (request, bucket) =>
      writtenAttributes(request, bucket, { access, directory, nowMs: clock.wallMs() }),
    directory,
    callers,
    verifier,
    encrypting,
    clock,
    settings,
  })
  const storage = createS3Door({
    callers,
    verifier,
    record: createRecord({
      accessLog,
      loggedBuckets: createLoggedBuckets({ buckets, clock }),
      clock,
      mark,
    }),
    clientOf: createClientOf(settings.trustedProxies),
    bases: {
      api: hosts.filter((host) => !host.startsWith('[')),
      website: settings.website.hosts,
    },
    handlers,
    unserved: createUnserved({ access }),
  })
  return { storage, website: createWebsiteDoor(storage), accessLog, damages }
}
