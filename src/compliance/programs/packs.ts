// The process of evidence packs: it makes the packs of the rows.
import { sleep, systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { nj } from '#base/units.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { createPacks } from '#compliance/build/follow-packs.ts'
import { createPayers } from '#identity/payers.ts'
import { openBackgroundAccounting, type AccountingConfig } from '#node/background-accounting.ts'
import { serveInside } from '#node/inside.ts'
import { BILLED_PAGE, billedPage } from '#node/meter/gateway-bills.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { connectState } from '#state/connect.ts'

export type PacksConfig = AccountingConfig & {
  readonly blobs: BlobSettings
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 4
const PAGE_RECEIPTS = 1000
const PROCESS = 'packs'

const config = await readConfig<PacksConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const { charging, session, close } = await openBackgroundAccounting(config, {
  process: PROCESS,
  log,
  leaseLeastNj: nj(0n),
})
const packs = createPacks({
  state,
  receipts: createSqlReceiptStore(state),
  stores: await openBlobStores(config.blobs, { log, clock: systemClock }),
  charging,
  // Records that a tick posts, and more where they came meanwhile.
  async postCharges(signal) {
    do await session.tickNow(signal)
    while (session.pending > 0)
  },
  payerOf: createPayers({ state, clock: systemClock }).payerOf,
  clock: systemClock,
  sleep,
  pageReceipts: PAGE_RECEIPTS,
  log,
})
await state.listen('ergon_packs', (deleted) => packs.wake(deleted))
const ending = new AbortController()
const working = packs.run(ending.signal)
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [BILLED_PAGE]: () => billedPage(session.id, charging),
})

process.once('SIGTERM', () => {
  ending.abort()
  void working.then(async () => {
    await inside.close()
    await close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
