// The process that sends webhooks. It alone connects to addresses of accounts.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, Secret, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { nj } from '#base/units.ts'
import { createWorkBills } from '#charging/work-bills.ts'
import { createPayers } from '#identity/payers.ts'
import { openAccounting, SMALL_SEGMENT_BYTES } from '#node/accounting.ts'
import { serveInside } from '#node/inside.ts'
import { BILLED_PAGE, billedPage } from '#node/meter/gateway-bills.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { createAnnouncer } from '#webhooks/delivery/announce.ts'
import { createCheckedConnections } from '#egress/connections.ts'
import { createDispatcher } from '#webhooks/delivery/dispatcher.ts'
import { createQueue } from '#webhooks/delivery/queue.ts'
import { createResolve } from '#egress/resolve.ts'
import { createDeliverySender } from '#webhooks/delivery/send.ts'

export type WebhooksConfig = {
  readonly state: StateAddress
  /** The meter whose tariff gives carbon and price of a charge. */
  readonly meter: string
  readonly journalFolder: string
  readonly journalSync: boolean
  /** Opens the secrets of endpoints. */
  readonly key: string
  /** Addresses that are permitted although they are not public. */
  readonly networks: readonly string[]
  /** Ports of the service, which may be asked at this machine's public addresses. */
  readonly servedPorts: readonly number[]
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 3
const LEDGER_CONNECTIONS = 2
const PROCESS = 'webhooks'
const EXIT_LOST = 74
/** Some hundred deliveries; small wallets keep the rest. */
const AHEAD_NJ = nj(500_000_000n)

const config = await readConfig<WebhooksConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const connect = (connections: number) =>
  connectState({ address: config.state, connections, log, prepares: true })
const state = connect(CONNECTIONS)
const ledgerState = connect(LEDGER_CONNECTIONS)
const accounting = await openAccounting({
  process: PROCESS,
  meter: config.meter,
  journalFolder: config.journalFolder,
  segmentBytes: SMALL_SEGMENT_BYTES,
  journalSync: config.journalSync,
  state: ledgerState,
  log,
  leaseLeastNj: nj(0n),
  aheadNj: AHEAD_NJ,
  forget: () => undefined,
  failed(error) {
    log.error('The journal or the session of webhooks is lost; the process ends', { error })
    process.exit(EXIT_LOST)
  },
})
const { charging, marks, session } = accounting
const rule = createAddressRule(config.networks, config)
const bills = createWorkBills({
  operation: 'webhook.delivery',
  charging,
  clock: systemClock,
  payerOf: createPayers({ state, clock: systemClock }).payerOf,
  markOwn: () => marks.markLater(marks.operator),
})
const dispatcher = createDispatcher({
  queue: createQueue({ state, key: new Secret(config.key) }),
  sender: createDeliverySender(createCheckedConnections({ rule, resolve: createResolve() })),
  rule,
  bills,
  clock: systemClock,
  log,
  random: Math.random,
})
const announcer = createAnnouncer({ state, log })
await state.listen('ergon_webhooks', (endpoint) => dispatcher.wake(endpoint))
await state.listen('ergon_webhook_changes', (endpoint) => {
  dispatcher.changed(endpoint)
  announcer.wake()
})
const ending = new AbortController()
const working = Promise.all([dispatcher.run(ending.signal), announcer.run(ending.signal)])
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [BILLED_PAGE]: () => billedPage(session.id, charging),
})

process.once('SIGTERM', () => {
  ending.abort()
  void working.then(async () => {
    await bills.close()
    await inside.close()
    await accounting.close()
    await ledgerState[Symbol.asyncDispose]()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
