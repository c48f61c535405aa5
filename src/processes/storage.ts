// The upkeep of object storage: what must be done of it that no request waits for. It works under the
// gateways' uid, as it deletes what they wrote.
import { createFsStore } from '#blobs/fs-store.ts'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type Level } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { createStorageUpkeep } from '#storage/upkeep/storage-upkeep.ts'
import { serveInside } from './inside.ts'

export type StorageConfig = {
  readonly state: StateAddress
  readonly blobFolder: string
  /** What the keys of encrypted objects follow from. */
  readonly stateKey: string
  readonly keyIds: readonly string[]
  /** How long a day of lifecycle rules lasts. */
  readonly dayMs: number
  readonly socket: string
  readonly logLevel: Level
}

const CONNECTIONS = 2

const config = await readConfig<StorageConfig>()
const log = createLogger('storage', { level: config.logLevel })
endOnFault(log)
giveWay()
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const blobs = await createFsStore({
  folder: config.blobFolder,
  location: 'fs',
  log,
  clock: systemClock,
})
const upkeep = createStorageUpkeep({
  state,
  blobs,
  clock: systemClock,
  log,
  dayMs: config.dayMs,
  keys: { secret: config.stateKey, keyIds: config.keyIds },
})
const ending = new AbortController()
const running = upkeep.run(ending.signal)
const inside = await serveInside(config.socket, { '/readyz': () => ({ ready: true }) })

process.once('SIGTERM', () => {
  ending.abort()
  void running.then(async () => {
    await inside.close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
