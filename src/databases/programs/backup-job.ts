// One backup or restore as a process of its own, paid by its account. Its page says how the job has ended.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { doJob } from '#databases/backups/do-job.ts'
import { JOB_PAGE, type BackupJob, type JobPage } from '#databases/backups/job.ts'
import { createSealedBlobs } from '#databases/backups/sealed-blobs.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { serveInside } from '#node/inside.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type BackupJobConfig = {
  readonly job: BackupJob
  readonly state: StateAddress
  readonly blobs: BlobSettings
  /** The secret from which the keys of all blobs are derived. */
  readonly secret: string
  readonly agent: AgentSocket
  readonly superuserPassword: string
  readonly restoredFolder: string
  readonly roomLock: string
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 2
const PROCESS = 'db-job'

const config = await readConfig<BackupJobConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const stores = await openBlobStores(config.blobs, { log, clock: systemClock })
const blobs = createSealedBlobs({ state, stores, secret: config.secret })
const ending = new AbortController()
let page: JobPage = {}
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [JOB_PAGE]: () => page,
})
const deps = { ...config, state, blobs, log, clock: systemClock }
const working = doJob(deps, config.job, ending.signal).then(
  (end) => void (page = { end }),
  () => undefined,
)

process.once('SIGTERM', () => {
  ending.abort()
  void working.then(() => inside.close()).then(() => process.exit(0))
})
onParentGone(() => process.exit(0))
