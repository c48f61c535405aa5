// The process of backups: the logs of all servers that run, and the backups and restores that rows ask for.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { nj, NJ_PER_J } from '#base/units.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { during } from '#charging/during.ts'
import { chargedResource } from '#contract/charged-resource.ts'
import { createPayers } from '#identity/payers.ts'
import { openBackgroundAccounting, type AccountingConfig } from '#node/background-accounting.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { createArchives } from '#databases/backups/archives.ts'
import type { JobDeps, JobKind } from '#databases/backups/job.ts'
import { followJobs } from '#databases/backups/jobs.ts'
import { createSealedBlobs } from '#databases/backups/sealed-blobs.ts'
import { serveInside } from '#node/inside.ts'
import { BILLED_PAGE, billedPage } from '#node/meter/gateway-bills.ts'
import { connectState } from '#state/connect.ts'

export type BackupsConfig = AccountingConfig & {
  readonly blobs: BlobSettings
  /** The secret from which the keys of all blobs are derived. */
  readonly secret: string
  readonly agent: AgentSocket
  readonly superuserPassword: string
  readonly restoredFolder: string
  /** The folder of the servers' sockets. */
  readonly socketsFolder: string
  /** The longest time that a commit waits before its log is stored. */
  readonly restMs: number
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 6
const PROCESS = 'db-backups'
/** The ceiling of one backup or restore: some days of one core. It is asked for in steps. */
const CEILING_NJ = nj(1_000_000n * NJ_PER_J)
const LEASE_LEAST_NJ = nj(10n * NJ_PER_J)

const config = await readConfig<BackupsConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const { charging, session, marks, close } = await openBackgroundAccounting(config, {
  process: PROCESS,
  log,
  leaseLeastNj: LEASE_LEAST_NJ,
})
const { payerOf } = createPayers({ state, clock: systemClock })
const charged: JobDeps['charged'] = async ({ account, resource }, work, signal) =>
  await during(
    { charging, clock: systemClock },
    {
      payerOf: () => payerOf(account),
      operation: 'database.backup',
      ceilingNj: CEILING_NJ,
      served: { resource: chargedResource(resource) },
      signal,
    },
    (meter, paid) => work(() => meter.mark(), paid),
  )
const stores = await openBlobStores(config.blobs, { log, clock: systemClock })
const blobs = createSealedBlobs({ stores, secret: config.secret })
const deps = {
  ...config,
  state,
  blobs,
  log,
  clock: systemClock,
  charged,
  mark: () => marks.mark(marks.operator),
}
const ending = new AbortController()
const archives = createArchives(deps)
const wakes = new Map<JobKind, () => void>()
const woken = (kind: JobKind) => new Promise<void>((resolve) => wakes.set(kind, resolve))
await state.listen('ergon_backups', () => wakes.forEach((wake) => wake()))
await state.listen('ergon_archive', (id) => archives.flush(id))
const working = Promise.all([archives.run(ending.signal), followJobs(deps, woken, ending.signal)])
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [BILLED_PAGE]: () => billedPage(session.id, charging),
})

process.once('SIGTERM', () => {
  ending.abort()
  void working.then(async () => {
    await inside.close()
    await close()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
