// The process of backups: the logs of all servers that run, and the backups and restores that rows ask for.
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { createArchives } from '#databases/backups/archives.ts'
import { followJobs } from '#databases/backups/jobs.ts'
import { createSealedBlobs } from '#databases/backups/sealed-blobs.ts'
import { serveInside } from '#node/inside.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type BackupsConfig = {
  readonly state: StateAddress
  readonly blobs: BlobSettings
  /** The secret from which the keys of all blobs are derived. */
  readonly secret: string
  readonly agent: { readonly socketPath: string; readonly secret: string }
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

const config = await readConfig<BackupsConfig>()
const log = createLogger('db-backups', { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const stores = await openBlobStores(config.blobs, { log, clock: systemClock })
const blobs = createSealedBlobs({ stores, secret: config.secret })
const deps = { ...config, state, blobs, log, clock: systemClock }
const ending = new AbortController()
const archives = createArchives(deps)
let wake: () => void = () => undefined
const woken = () => new Promise<void>((resolve) => (wake = resolve))
await state.listen('ergon_backups', () => wake())
await state.listen('ergon_archive', (id) => archives.flush(id))
const working = Promise.all([archives.run(ending.signal), followJobs(deps, woken, ending.signal)])
const inside = await serveInside(config.socket, { '/readyz': () => ({ ready: true }) })

process.once('SIGTERM', () => {
  ending.abort()
  void working.then(async () => {
    await inside.close()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
