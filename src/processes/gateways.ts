// The gateway cells of a node, on one port.
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { fault } from '#contract/errors.ts'
import { MODEL_SOCKETS } from '#inference/models/fleet.ts'
import { programCell, socketOf, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { placeOf, type DataFolder } from '#node/data-folder.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { DRAIN_MS } from '#node/stop-budget.ts'
import { SIGNERS_HERE } from '#receipts/sealing.ts'
import type { StorageSettings } from '#s3/settings.ts'
import type { StateAddress } from '#state/connect.ts'
import type { GatewayConfig } from './gateway.ts'

export const GATEWAY_PROGRAM: Program = {
  file: 'processes/gateway.ts',
  // A young heap that begins with 1 MiB is collected every few requests.
  flags: [ONE_COLLECTOR, '--min-semi-space-size=16'],
}
export const GATEWAY_SOCKETS = 'gateways'
const MIB = 1024 * 1024

/** The names of the gateways that a start has. */
export const gatewayNames = ({ gateways }: Pick<Config, 'gateways'>): string[] =>
  Array.from({ length: gateways }, (_, index) => `gw-${index + 1}`)

/** Starts them and waits until each one answers. */
export async function startGateways(deps: {
  config: Config
  data: DataFolder
  cells: Cells
  address: StateAddress
  blobs: BlobSettings
  meter: string
  signal: AbortSignal
}): Promise<{ stop(graceMs: number): Promise<void> }> {
  const cells = await Promise.all(gatewayNames(deps.config).map((name) => start(name)))
  await Promise.all(cells.map((cell) => answered(cell, deps.signal)))
  return {
    stop: async (graceMs) => void (await Promise.all(cells.map((cell) => cell.stop(graceMs)))),
  }

  function start(name: string): Promise<Cell> {
    const { config, data, blobs } = deps
    const place = placeOf(config, data)
    const journalFolder = data.at('journals', name)
    const others = gatewayNames(config).filter((other) => other !== name)
    const settings: Omit<GatewayConfig, 'socket' | 'logLevel'> = {
      name,
      others: others.map((other) => ({
        name: other,
        socket: socketOf(place, GATEWAY_SOCKETS, other),
      })),
      state: deps.address,
      journalFolder,
      journalSync: config.journalSync === 'sync',
      meter: deps.meter,
      signers: SIGNERS_HERE,
      listen: { host: config.host, port: data.port, shared: config.gateways > 1 },
      hosts: hostsOf(config),
      ...(config.baseUrl === undefined ? {} : { baseUrl: config.baseUrl }),
      drainMs: DRAIN_MS,
      bodyMemoryBytes: config.bodyMemoryMib * MIB,
      accountRequests: config.accountRequests,
      stateKey: data.secrets.state,
      blobs,
      storage: {
        region: config.region,
        bucketsMax: config.storageBuckets,
        acls: config.storageAcls,
        encrypts: config.storageEncryption,
        keyIds: config.storageKmsKeys,
        trustedProxies: config.trustedProxies,
        website: websiteOf(config),
      },
      ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken.reveal() }),
    }
    return deps.cells.start(
      programCell(GATEWAY_PROGRAM, {
        name,
        user: 'gateway',
        place,
        config: settings,
        socketGroup: GATEWAY_SOCKETS,
        writes: [journalFolder, blobs.folder],
        calls: [STATE_SOCKETS, MODEL_SOCKETS, ...(others.length === 0 ? [] : [GATEWAY_SOCKETS])],
      }),
    )
  }
}

/** Waits for a gateway; throws `gateway_not_ready` with what its last life ended by. */
async function answered(cell: Cell, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)])
  await cell.ready(limit).catch((cause: unknown) => {
    signal.throwIfAborted()
    const last = cell.exits.at(-1)
    const end =
      last === undefined ? '' : `; it ended ${cell.exits.length} times, last with code ${last.code}`
    throw fault(
      'gateway_not_ready',
      `The gateway ${cell.spec.name} did not answer in ${START_TIMEOUT_MS / 1000} s${end}`,
      { cause },
    )
  })
}

/** The names that the API answers to. */
export function hostsOf(config: Config): string[] {
  const loopback = ['localhost', '127.0.0.1', '[::1]']
  return config.baseUrl === undefined ? loopback : [...loopback, new URL(config.baseUrl).hostname]
}

/** Where buckets are websites: below a name of its own, or below `website.` and the API's name. */
function websiteOf(config: Config): StorageSettings['website'] {
  const { protocol, hostname } = new URL(config.baseUrl ?? 'http://localhost')
  const host = config.storageWebsiteHost
  const names =
    host === undefined ? ['localhost', hostname].map((name) => `website.${name}`) : [host]
  return {
    hosts: [...new Set(names)],
    protocol: protocol === 'https:' ? 'https' : 'http',
  }
}
