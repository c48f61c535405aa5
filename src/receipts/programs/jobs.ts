// Seals receipts, one leader at a time, and watches the signers.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { createLeadership } from '#receipts/leader.ts'
import { createSealer } from '#receipts/sealer.ts'
import { createSignerStore } from '#receipts/signer-store.ts'
import { createSignerWatch } from '#receipts/signer-watch.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { createQuorum } from '#signers/client.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { serveInside } from '#node/inside.ts'

export type JobsConfig = {
  readonly state: StateAddress
  /** Sockets of signers 1 to 5. */
  readonly signers: readonly string[]
  readonly socket: string
  readonly logLevel: LogLevel
}

// One for the leader's lock, the others for reading and saving.
const CONNECTIONS = 4

const config = await readConfig<JobsConfig>()
const log = createLogger('jobs', { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log, prepares: true })
const signers = createQuorum({ sockets: config.signers, log })
const signerStore = createSignerStore(state)
const leadership = createLeadership(state)
const sealer = createSealer({
  store: createSqlReceiptStore(state),
  signers,
  clock: systemClock,
  log,
  lead: leadership.lead,
  mayMakeKey: signerStore.mayMakeKey,
})
const watch = createSignerWatch({ signers, store: signerStore, clock: systemClock, log })
const stopping = new AbortController()
const sealing = sealer.run(stopping.signal)
const watching = watch.run(stopping.signal)
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  '/sealer': () => ({ ...sealer.state(), signers: watch.seen() }),
  '/signers': () => watch.look(stopping.signal),
})

async function stop(): Promise<void> {
  if (stopping.signal.aborted) return
  stopping.abort()
  await Promise.all([sealing, watching])
  await inside.close()
  await leadership[Symbol.asyncDispose]()
  await signers.close()
  await state[Symbol.asyncDispose]()
  process.exit(0)
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
onParentGone(() => process.exit(0))
