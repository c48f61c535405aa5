// The process of backups: stores the logs of all servers that run. Each database pays for its part (log-cpu.ts).
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { createArchives } from '#databases/backups/archives.ts'
import { createLogCpu } from '#databases/backups/log-cpu.ts'
import { createSealedBlobs } from '#databases/backups/sealed-blobs.ts'
import { createStoreTurns } from '#databases/backups/store-turns.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { serveInside } from '#node/inside.ts'
import { CAUSED_PAGE } from '#node/meter/caused-cpu.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type BackupsConfig = {
  readonly state: StateAddress
  readonly blobs: BlobSettings
  /** The secret from which the keys of all blobs are derived. */
  readonly secret: string
  readonly agent: AgentSocket
  readonly superuserPassword: string
  /** The folder of the servers' sockets. */
  readonly socketsFolder: string
  /** The longest time that a commit waits before its log is stored. */
  readonly restMs: number
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 6
const PROCESS = 'db-backups'

const config = await readConfig<BackupsConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const stores = await openBlobStores(config.blobs, { log, clock: systemClock })
const blobs = createSealedBlobs({ state, stores, secret: config.secret })
const cpu = createLogCpu()
const turns = createStoreTurns()
const archives = createArchives({ ...config, state, blobs, log, clock: systemClock, cpu, turns })
const ending = new AbortController()
await state.listen('ergon_archive', (id) => archives.flush(id))
const working = archives.run(ending.signal)
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [CAUSED_PAGE]: () => cpu.totals(),
})

process.once('SIGTERM', () => {
  ending.abort()
  void working.then(async () => {
    await inside.close()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
