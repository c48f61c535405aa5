// The services that all products of a gateway share: pools of connections, accounting, authentication and payers.
import { systemClock } from '#base/clock.ts'
import { Secret, type Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { createClientOf } from '#http/client-of.ts'
import type { Figure, GatewayCore } from '#http/gateway-part.ts'
import { createRefusals, REFUSALS_PAGE, type Refusals } from '#http/refusals.ts'
import { createRequestCounts } from '#http/request-counts.ts'
import { createPayers } from '#identity/payers.ts'
import { createIdentity, type Identity } from '#identity/identity.ts'
import { openAccounting, type Accounting } from '#node/accounting.ts'
import { diskPages } from '#node/disk-full.ts'
import type { Pages } from '#node/inside.ts'
import { BILLED_PAGE, billedPage } from '#node/meter/gateway-bills.ts'
import { connectState } from '#state/connect.ts'
import { connectPipeline } from '#state/pipeline.ts'
import type { GatewayConfig } from './gateway-config.ts'
import { openStackParts } from './stack-parts.ts'

// A pool for each use, so that slow queries of callers delay nobody: without a tick for two seconds the
// gateway may serve no one, without look-ups no new caller.
const LEDGER_CONNECTIONS = 1
// A tick that is not answered in time is followed by another one.
const TICK_CONNECTIONS = 2
const LOOK_UP_CONNECTIONS = 4
const READER_CONNECTIONS = 4
const EXIT_LOST = 74

/** The core without what is made of the products. */
export type OpenCore = Omit<
  GatewayCore,
  'unready' | 'figures' | 'accountParts' | 'liveStates' | 'lookups'
> & {
  /** Why the gateway itself cannot serve requests. */
  readonly unready: GatewayCore['unready']
  readonly figures: readonly Figure[]
  readonly refusals: Refusals
  readonly pages: Pages
  closeAccounting(): Promise<void>
  close(): Promise<void>
}

export async function openGatewayCore(config: GatewayConfig, log: Logger): Promise<OpenCore> {
  const refusals = createRefusals(systemClock)
  const pools = createPools(config, log)
  const { connect } = pools
  const ledgerState = connect(LEDGER_CONNECTIONS)
  const lookUps = connect(LOOK_UP_CONNECTIONS)
  const readers = connect(READER_CONNECTIONS)
  const accounting = await openAccounting({
    process: config.name,
    meter: config.meter,
    journalFolder: config.journalFolder,
    journalSync: config.journalSync,
    state: ledgerState,
    ticks: pools.connectPipeline(TICK_CONNECTIONS),
    log,
    forget: (changes) => identity.forget(changes),
    failed(error) {
      log.error('The journal or the session is lost; this gateway ends', { error })
      process.exit(EXIT_LOST)
    },
  })
  const { session, charging, marks } = accounting
  const identity: Identity = createIdentity({ state: lookUps, session, clock: systemClock })
  let isDiskFull = false
  return {
    name: config.name,
    others: config.others,
    lookUps,
    readers,
    connect,
    connectPipeline: pools.connectPipeline,
    session,
    meter: config.meter,
    charging,
    marks,
    identity,
    payers: createPayers({ state: lookUps, clock: systemClock }),
    secret: new Secret(config.stateKey),
    hosts: config.hosts,
    baseUrl: config.baseUrl,
    clientOf: createClientOf(config.trustedProxies),
    clock: systemClock,
    log,
    stackParts: openStackParts({ secret: config.stateKey, settings: config.products }),
    counts: createRequestCounts(),
    refusals,
    figures: accountingFigures(accounting),
    unready() {
      if (isDiskFull) return fault('storage_full', 'Not ready: the disk is full')
      if (session.fresh) return undefined
      const retry = { retryAfterS: 1 }
      return fault('state_unavailable', 'Not ready: the state did not answer', retry)
    },
    pages: {
      '/readyz': () => ({ ready: session.fresh }),
      [REFUSALS_PAGE]: refusals.list,
      [BILLED_PAGE]: () => billedPage(session.id, charging),
      ...diskPages((isFull) => (isDiskFull = isFull)),
    },
    closeAccounting: () => accounting.close(),
    close: pools.close,
  }
}

function createPools({ state: address }: GatewayConfig, log: Logger) {
  const pools: AsyncDisposable[] = []
  const kept = <P extends AsyncDisposable>(pool: P): P => {
    pools.push(pool)
    return pool
  }
  return {
    connect: (connections: number, further: Parameters<GatewayCore['connect']>[1] = {}) =>
      kept(connectState({ address, connections, log, ...further })),
    connectPipeline: (
      connections: number,
      further: Parameters<GatewayCore['connectPipeline']>[1] = {},
    ) => kept(connectPipeline({ address, connections, log, ...further })),
    async close() {
      for (const pool of pools) await pool[Symbol.asyncDispose]()
    },
  }
}

const accountingFigures = ({ session, charging, journal }: Accounting): Figure[] => [
  {
    name: 'requests_running',
    help: 'Requests that are being answered',
    read: () => charging.running,
  },
  {
    name: 'records_pending',
    help: 'Journaled records that the ledger does not have yet',
    read: () => session.pending,
  },
  { name: 'journal_bytes', help: 'Bytes of journal on disk', read: () => journal.bytes },
  {
    name: 'session_fresh',
    help: '1 while the ledger answers',
    read: () => Number(session.fresh),
  },
  {
    name: 'billed_cpu_seconds',
    help: 'CPU time charged to requests, running and settled',
    read: () => Number(charging.billed().chargedNs) / 1e9,
  },
  {
    name: 'billed_joules',
    help: 'Energy of that CPU time, each request at the tariff that it was admitted at',
    read: () => Number(charging.billed().accruedNj) / 1e9,
  },
  {
    name: 'indirect_cpu_seconds',
    help: 'Of the CPU time charged to requests, what they cause in cells that serve all of them: learned',
    read: () => Number(charging.activity.indirectNs) / 1e9,
  },
]
