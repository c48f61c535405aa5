// Object storage in a gateway: the S3 protocol, the websites of buckets, and presigned addresses.
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { fault } from '#contract/errors.ts'
import { parsePresignRequest } from '#contract/storage/presign.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { followKeyVersions } from '#objects/encryption/key-versions.ts'
import { storageAccount } from './account-part.ts'
import { createDerivedKeys } from './authentication/derived-keys.ts'
import { createPresignCreate } from './authentication/presign-create.ts'
import { createStorageBuckets } from './buckets/storage-buckets.ts'
import { createStorageProtocols } from './create-s3.ts'
import type { StorageSettings } from './settings.ts'

type S3GatewaySettings = {
  readonly blobs: BlobSettings
  readonly storage: StorageSettings
  /** Where storage answers, for addresses that pages of a site ask for. */
  readonly address: string
}

// Puts have connections of their own: one that waits for the lock of its bucket, while that is deleted, holds up no find.
const FIND_CONNECTIONS = 4
// A put of 4 KiB waits 2 to 4 ms for its commit to be on disk; commits of several connections share that.
const PUT_CONNECTIONS = 8
// A page of a thousand keys takes the server milliseconds: finds wait for none.
const LIST_CONNECTIONS = 4
const CONNECTIONS = 8

/** Pages of the portal ask for `/s3/<bucket>/<key>`. */
const SITE_SEGMENT = 's3'

export const STORAGE_GATEWAY: GatewayProduct<S3GatewaySettings> = { name: 'storage', open }

async function open(
  core: GatewayCore,
  { blobs, storage, address }: S3GatewaySettings,
): Promise<GatewayPart> {
  const { readers, identity, payers, secret, hosts, baseUrl, clock, log, marks, charging } = core
  const keys = createDerivedKeys(secret)
  const stores = await openBlobStores(blobs, { log, clock })
  const versions = await followKeyVersions({ state: readers, log })
  const protocols = createStorageProtocols({
    state: core.connect(CONNECTIONS, { prepares: true }),
    finds: core.connectPipeline(FIND_CONNECTIONS),
    puts: core.connectPipeline(PUT_CONNECTIONS),
    lists: core.connectPipeline(LIST_CONNECTIONS),
    blobs: stores,
    identity,
    payerOf: payers.payerOf,
    secret,
    keys,
    keyVersionOf: versions.versionOf,
    directory: { exists: payers.exists, accountOfEmail: async () => undefined },
    clock,
    log,
    marks,
    charging,
    hosts,
    clientOf: core.clientOf,
    settings: storage,
  })
  const { region, website } = storage
  // The reads of buckets beside S3 tell the operator of a damaged page too.
  const state = protocols.damages.tellingState(readers)
  const presign = createPresignCreate({ keys, clock, region, baseUrl, address })
  return {
    endpoints: {
      'storage.buckets': { handle: createStorageBuckets({ state }) },
      'presign.create': { parse: parsePresignRequest, handle: presign },
    },
    protocols: [
      { handler: protocols.website, below: website.hosts, ownsHealthPages: true },
      {
        handler: protocols.storage,
        below: hosts,
        rest: true,
        onSites: {
          segment: SITE_SEGMENT,
          open: (credential) => protocols.storageOf({ segment: SITE_SEGMENT, credential }),
        },
      },
    ],
    figures: figuresOf(protocols),
    account: storageAccount(state),
    unready() {
      const fenced = stores.local.fenced()
      return fenced === undefined
        ? undefined
        : fault('storage_fenced', `Not ready: objects are read only since a disk error: ${fenced}`)
    },
    drained: (signal) => protocols.accessLog.close(signal),
    close: () => versions.close(),
  }
}

const figuresOf = ({ damages, accessLog }: ReturnType<typeof createStorageProtocols>) => [
  {
    name: 'blob_reads_damaged',
    help: 'Reads that met a damaged or missing body',
    read: () => damages.met(),
  },
  {
    name: 'access_log_lines_lost',
    help: 'Lines of access logs that no bucket got',
    read: () => accessLog.lost,
  },
]
