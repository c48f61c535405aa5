// The upkeep of object storage: what must be done of it that no request waits for, and the charge of what
// is stored, with a journal of its own. It works under the gateways' uid, as it deletes what they wrote.
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type Level } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { nj } from '#base/units.ts'
import { createPayers } from '#identity/payers.ts'
import { createOperatorMarks } from '#metering/marks.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { MOVE_PAGE } from '#objects/upkeep/move-order.ts'
import { createStanding, type StoragePower } from '#objects/upkeep/standing.ts'
import { createStorageUpkeep } from '#objects/upkeep/storage-upkeep.ts'
import { openAccounting, SMALL_SEGMENT_BYTES } from '#node/accounting.ts'
import { serveInside } from '#node/inside.ts'

export type StorageConfig = {
  readonly state: StateAddress
  readonly blobs: BlobSettings
  readonly journalFolder: string
  readonly journalSync: boolean
  /** The gateway whose tariff gives carbon and price of a charge. */
  readonly meter: string
  /** The secret from which the keys of encrypted objects are derived. */
  readonly stateKey: string
  readonly keyIds: readonly string[]
  /** The length of a day of lifecycle rules. */
  readonly dayMs: number
  /** The interval of the charges for stored bytes, and the power. */
  readonly minuteMs: number
  readonly power: StoragePower
  readonly socket: string
  readonly logLevel: Level
}

/** One holds the mover's lock, four move. */
const CONNECTIONS = 7
const LEDGER_CONNECTIONS = 2
const STORAGE_PROCESS = 'storage'
const EXIT_LOST = 74

const config = await readConfig<StorageConfig>()
const log = createLogger('storage', { level: config.logLevel })
endOnFault(log)
giveWay()
const connect = (connections: number, further: { prepares?: boolean } = {}) =>
  connectState({ address: config.state, connections, log, ...further })
const ledgerState = connect(LEDGER_CONNECTIONS, { prepares: true })
const state = connect(CONNECTIONS)
const accounting = await openAccounting({
  process: STORAGE_PROCESS,
  meter: config.meter,
  journalFolder: config.journalFolder,
  segmentBytes: SMALL_SEGMENT_BYTES,
  journalSync: config.journalSync,
  state: ledgerState,
  log,
  marks: createOperatorMarks(),
  // All that a minute costs is known before it is asked for: a wallet keeps the rest.
  leaseLeastNj: nj(0n),
  forget: () => undefined,
  failed(error) {
    log.error('The journal or the session of storage is lost; it ends', { error })
    process.exit(EXIT_LOST)
  },
})
const { byLocation: stores } = await openBlobStores(config.blobs, { log, clock: systemClock })
const upkeep = createStorageUpkeep({
  state,
  stores,
  clock: systemClock,
  log,
  dayMs: config.dayMs,
  minuteMs: config.minuteMs,
  standing: createStanding({
    state,
    charging: accounting.charging,
    payerOf: createPayers({ state, clock: systemClock }).payerOf,
    clock: systemClock,
    log,
    power: config.power,
    minuteMs: config.minuteMs,
  }),
  keys: { secret: config.stateKey, keyIds: config.keyIds },
})
const ending = new AbortController()
const running = upkeep.run(ending.signal)
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [MOVE_PAGE]: () => upkeep.told(),
})

process.once('SIGTERM', () => {
  ending.abort()
  void running.then(async () => {
    await inside.close()
    await accounting.close()
    await ledgerState[Symbol.asyncDispose]()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
