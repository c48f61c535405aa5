// The S3 protocol over the object store: the API, and the websites of buckets.
import { nj } from '#base/units.ts'
import type { Charging } from '#charging/charging.ts'
import { during } from '#charging/during.ts'
import type { ClientOf } from '#http/client-of.ts'
import type { ProtocolHandler } from '#http/protocol-handler.ts'
import type { Damages } from '#objects/damage.ts'
import { createHandlers } from './create-handlers.ts'
import { createS3Protocol, type StorageOfSite } from './s3-protocol.ts'
import { AccessLog } from './logging/access-log.ts'
import { createDeliver } from './logging/deliver.ts'
import { createLoggedBuckets } from './logging/logged-buckets.ts'
import { createRecord } from './logging/record.ts'
import { createParts, type StorageOptions } from './parts.ts'
import { createUnserved } from './unserved.ts'
import { createWebsiteProtocol } from './website/website-protocol.ts'

export type StorageProtocols = {
  readonly storage: ProtocolHandler
  readonly storageOf: (site: StorageOfSite) => ProtocolHandler
  readonly website: ProtocolHandler
  readonly accessLog: AccessLog
  readonly damages: Pick<Damages, 'met' | 'tellingState'>
}

// An object of 1 MiB, encrypted, takes 0.1 s of CPU at most.
const DELIVERY_NJ = nj(2_000_000_000n)

/** `hosts` are the names that the service answers to. */
export function createStorageProtocols(
  options: StorageOptions & {
    readonly hosts: readonly string[]
    readonly clientOf: ClientOf
    readonly charging: Pick<Charging, 'open'>
  },
): StorageProtocols {
  const { charging, clock, hosts, settings, marks, log, payerOf } = options
  const parts = createParts(options)
  // The CPU of work that no request caused is the operator's.
  const mark = () => marks.mark(marks.operator)
  const deliver = createDeliver({
    ...parts,
    during: async ({ account, name }, work, signal) => {
      const long = {
        payerOf: () => payerOf(account),
        operation: 'storage.log-delivery',
        ceilingNj: DELIVERY_NJ,
        served: { resource: `s3://${name}` },
        signal,
      } as const
      return await during({ charging, clock }, long, work)
    },
  })
  const accessLog = new AccessLog({ deliver, clock, log })
  const loggedBuckets = createLoggedBuckets(parts)
  const given = {
    callers: parts.callers,
    verifier: parts.verifier,
    record: createRecord({ accessLog, loggedBuckets, clock, mark }),
    clientOf: options.clientOf,
    bases: {
      api: hosts.filter((host) => !host.startsWith('[')),
      website: settings.website.hosts,
    },
    handlers: createHandlers(parts),
    unserved: createUnserved(parts),
  }
  const storage = createS3Protocol(given)
  return {
    storage,
    storageOf: (site) => createS3Protocol({ ...given, site }),
    website: createWebsiteProtocol(storage),
    accessLog,
    damages: parts.damages,
  }
}
