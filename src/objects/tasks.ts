// The background tasks of the object store: lifecycle rules, garbage and re-reading, keys after a rotation, and the
// move to another store. Each does a bounded piece in a run; the rest waits for the next run.
import { sleep, type TimerClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { openBlobStores, type BlobSettings, type BlobStores } from '#blobs/stores.ts'
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import type { State } from '#state/connect.ts'
import type { TaskHelp, Tasks } from '#tasks/task.ts'
import { createObjects } from './create-objects.ts'
import { createDamages } from './damage.ts'
import { createDocuments } from './documents.ts'
import type { Objects } from './objects.ts'
import { createClean } from './upkeep/clean.ts'
import { expireObjects } from './upkeep/expire-objects.ts'
import { createStorageLeave } from './upkeep/leave.ts'
import { loadMove, MOVE_TASK } from './upkeep/move-order.ts'
import { moveAsOrdered } from './upkeep/mover.ts'
import { rewrapKeys } from './upkeep/rewrap.ts'
import type { StoragePower } from '#charging/stored-bytes.ts'
import { createStanding } from './upkeep/standing.ts'
import { patientState } from './when-free.ts'

const MINUTE_MS = 60_000
/** Lifecycle rules are applied this often in a day, or once a minute. */
const EXPIRIES_PER_DAY = 10
/** A rotation begins to wrap keys some seconds after its command, once gateways have heard of it. */
const REWRAP_MS = 20_000
/** An order that goes on (another was given, another process moves) is read again so soon. */
const MOVE_MS = 1000
/** A move ends its run after so long, and goes on in the next one. */
const MOVE_RUN_MS = 3_600_000
const ATTEMPTS = 5
const TIMEOUT_MS = 600_000
/** The most versions of one run. */
const VERSIONS_MAX = 1000
const PIECES_MAX = 100
const PERMILLE = 1000

/** Settings of the object store's tasks and of its standing charge. */
export type ObjectsTaskSettings = {
  readonly blobs: BlobSettings
  /** The secret from which the keys of encrypted objects are derived. */
  readonly stateKey: string
  readonly keyIds: readonly string[]
  /** The length of a day of lifecycle rules. */
  readonly dayMs: number
  /** The interval of the charges for stored bytes, and the power. */
  readonly minuteMs: number
  readonly power: StoragePower
  /** Days of storage that are kept of a balance. */
  readonly retentionDays: number
}

type Deps = {
  readonly state: State
  readonly objects: Objects
  readonly stores: BlobStores
  readonly clock: TimerClock
  readonly log: Logger
  /** The length of a day of lifecycle rules. */
  readonly dayMs: number
  readonly keys: { readonly secret: string; readonly keyIds: readonly string[] }
}

export const STORAGE_TASKS: TasksProduct<ObjectsTaskSettings> = { name: 'storage', open }

async function open(core: TasksCore, settings: ObjectsTaskSettings): Promise<TasksPart> {
  const { blobs, stateKey, keyIds, dayMs } = settings
  const { byLocation: stores } = await openBlobStores(blobs, core)
  const { clock } = core
  const state = patientState(core.state, clock)
  const damages = createDamages({ state, log: core.log })
  const objects = createObjects({
    state,
    finds: state,
    puts: state,
    documents: createDocuments({ state }),
    clock,
    damages,
  })
  return {
    tasks: objectsTasks({ ...core, objects, stores, dayMs, keys: { secret: stateKey, keyIds } }),
    leave: createStorageLeave({ state, objects, damages }),
    run: createStanding({ ...core, ...settings }).run,
  }
}

function objectsTasks(deps: Deps): Tasks {
  const { objects, clock, dayMs, keys } = deps
  const state = patientState(deps.state, clock)
  const clean = createClean(deps)
  const limits = { attempts: ATTEMPTS, timeoutMs: TIMEOUT_MS }
  return {
    [MOVE_TASK]: {
      ...limits,
      everyMs: MINUTE_MS,
      timeoutMs: 2 * MOVE_RUN_MS,
      run: (_, help) => move(deps, help),
    },
    'objects.expire': {
      ...limits,
      everyMs: Math.min(MINUTE_MS, dayMs / EXPIRIES_PER_DAY),
      run: (_, { signal }) =>
        inPieces(() =>
          expireObjects({ state, objects, clock }, { limit: VERSIONS_MAX, signal, dayMs }),
        ),
    },
    'objects.rewrap': {
      ...limits,
      everyMs: REWRAP_MS,
      run: (_, { signal }) =>
        inPieces(() => rewrapKeys({ state, objects, ...keys }, { limit: VERSIONS_MAX, signal })),
    },
    'objects.clean': { ...limits, everyMs: MINUTE_MS, run: (_, { signal }) => clean(signal) },
  }
}

async function inPieces(piece: () => Promise<{ readonly done: boolean }>): Promise<void> {
  for (let pieces = 0; pieces < PIECES_MAX; pieces++) if ((await piece()).done) return
}

/** Moves blobs as the operator ordered, if there is an order. */
async function move(deps: Deps, { signal, progress }: TaskHelp): Promise<void> {
  const turn = AbortSignal.timeout(MOVE_RUN_MS)
  const work = AbortSignal.any([signal, turn])
  const reportProgress = async () => {
    const order = await loadMove(deps.state)
    if (order?.state === 'moving') progress(order.permille, PERMILLE)
    return order?.state === 'moving'
  }
  if (!(await reportProgress())) return
  const ended = new AbortController()
  const telling = tellUntil(ended.signal, reportProgress)
  try {
    while (await moveAsOrdered(deps, work)) await sleep(MOVE_MS, work)
    progress(PERMILLE, PERMILLE)
  } catch (error) {
    if (!turn.aborted || signal.aborted) throw error
  } finally {
    ended.abort()
    await telling
  }
}

async function tellUntil(
  signal: AbortSignal,
  reportProgress: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    await reportProgress().catch(() => undefined)
    await sleep(MOVE_MS, signal).catch(() => undefined)
  }
}
