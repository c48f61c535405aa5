// The gateway cells of a node, on one port.
import { LOOPBACK_HOSTS } from '#base/hosts.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { fault } from '#contract/errors.ts'
import type { AgentPart } from '#node/agent-part.ts'
import { GATEWAY_SOCKETS, gatewayNames } from '#node/cell-names.ts'
import { programCell, socketOf, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import type { LogTail } from '#base/log-tail.ts'
import { programPlace, type DataFolder } from '#node/data-folder.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { DRAIN_MS } from '#node/stop-budget.ts'
import type { StateAddress } from '#state/connect.ts'
import type { GatewayConfig } from './gateway-config.ts'

/** The agent halves' messages to the gateway halves, by the product's name. */
export type GatewaysNeeds = Readonly<Record<string, NonNullable<AgentPart['gateway']>>>

export const GATEWAY_PROGRAM: Program = {
  file: 'processes/gateway.ts',
  flags: [
    ONE_COLLECTOR,
    // A young heap that begins with 1 MiB is collected every few requests.
    '--min-semi-space-size=16',
    // It grows when objects outlive a collection, as those of slow streams do. At 16 MiB they became old: on a machine
    // with a load of 70 a stream of 50 paced chunks took 1,279 µs of CPU, and 558 with 32 MiB. Peak memory is lower by 9 to
    // 21 % (docs/performance.md).
    '--max-semi-space-size=32',
    // @simplewebauthn/server asks, when it is loaded, whether this Node has ML-DSA.
    '--disable-warning=ExperimentalWarning',
  ],
}
const MIB = 1024 * 1024

/** Starts them and waits until each one answers. */
export async function startGateways(deps: {
  config: Config
  data: DataFolder
  logTail: LogTail
  cells: Cells
  address: StateAddress
  meter: string
  parts: GatewaysNeeds
  signal: AbortSignal
}): Promise<void> {
  const cells = await Promise.all(gatewayNames(deps.config).map((name) => start(name)))
  await Promise.all(cells.map((cell) => answered(cell, deps.signal)))

  function start(name: string): Promise<Cell> {
    const { config, data, parts } = deps
    const place = programPlace(config, data, deps.logTail)
    const journalFolder = data.at('journals', name)
    const others = gatewayNames(config)
      .filter((other) => other !== name)
      .map((other) => ({ name: other, socket: socketOf(place, GATEWAY_SOCKETS, other) }))
    const settings: Omit<GatewayConfig, 'socket' | 'logLevel'> = {
      name,
      others,
      state: deps.address,
      journalFolder,
      journalSync: config.journalSync === 'sync',
      meter: deps.meter,
      listen: { host: config.host, port: data.port, shared: config.gateways > 1 },
      hosts: hostsOf(config),
      ...(config.baseUrl === undefined ? {} : { baseUrl: config.baseUrl }),
      trustedProxies: config.trustedProxies,
      drainMs: DRAIN_MS,
      bodyMemoryBytes: config.bodyMemoryMib * MIB,
      accountRequests: config.accountRequests,
      accountRate: config.accountRate,
      stateKey: data.secrets.state,
      products: Object.fromEntries(
        Object.entries(parts).map(([product, part]) => [product, part.settings ?? {}]),
      ),
    }
    const calls = Object.values(parts).flatMap((part) => part.calls ?? [])
    const writes = Object.values(parts).flatMap((part) => part.writes ?? [])
    return deps.cells.start(
      programCell(GATEWAY_PROGRAM, {
        name,
        user: 'gateway',
        place,
        config: settings,
        socketGroup: GATEWAY_SOCKETS,
        bills: true,
        writes: [journalFolder, ...writes],
        calls: [STATE_SOCKETS, ...calls, ...(others.length === 0 ? [] : [GATEWAY_SOCKETS])],
      }),
    )
  }
}

/** Waits for a gateway; throws `gateway_not_ready` with the end of its last life. */
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
  const { baseUrl } = config
  return [...LOOPBACK_HOSTS, ...(baseUrl === undefined ? [] : [new URL(baseUrl).hostname])]
}
