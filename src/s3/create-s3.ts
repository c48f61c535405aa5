// Object storage, put together: the S3 door over the state and the blobs.
import type { TimerClock } from '#base/clock.ts'
import type { Logger, Secret } from '#base/log.ts'
import type { OpenBlobStores } from '#blobs/stores.ts'
import type { Payer } from '#charging/spend.ts'
import type { Door } from '#http/door.ts'
import type { Marks } from '#metering/marks.ts'
import type { Identity } from '#identity/tokens.ts'
import type { Queryable } from '#state/connect.ts'
import { createBlobReader } from '#objects/blob-reader.ts'
import { createDamages, type Damages } from '#objects/damage.ts'
import { createAnnotations } from '#objects/create-annotations.ts'
import { createBuckets } from '#objects/create-buckets.ts'
import { createDocuments } from '#objects/documents.ts'
import { createEvents } from '#objects/create-events.ts'
import { createListings } from '#objects/create-listings.ts'
import { createObjects } from '#objects/create-objects.ts'
import { createUploads } from '#objects/create-uploads.ts'
import { createAccess } from './policy/judge.ts'
import { AccessLog } from './logging/access-log.ts'
import { createDeliver } from './logging/deliver.ts'
import { createLoggedBuckets } from './logging/logged-buckets.ts'
import { createRecord } from './logging/record.ts'
import { createVault } from '#objects/encryption/vault.ts'
import { createEncrypting } from './encryption/encrypting.ts'
import { createAdmitTransfer } from './body/admit-transfer.ts'
import { createHashers } from './checksums/algorithms.ts'
import { createSumThread } from './checksums/sum-thread.ts'
import { createHandlers } from './create-handlers.ts'
import type { StorageSettings } from './deps.ts'
import { createClientOf } from '#http/client-of.ts'
import { createS3Door } from './door.ts'
import { createCallers } from './authentication/callers.ts'
import type { DerivedKeys } from './authentication/derived-keys.ts'
import { createUnserved } from './unserved.ts'
import { createReceiver } from './body/receive.ts'
import { createWebsiteDoor } from './website/website-door.ts'
import type { Directory } from './policy/acl-drafts.ts'
import { writtenAttributes } from './objects/written-attributes.ts'
import { createVerifier } from './authentication/verify.ts'

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
