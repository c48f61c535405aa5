// The first instance of a new version. It starts beside those of the version before it. Where the account or the node has no
// room for it, these end for it, but not where others would leave too little all the same.
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Instances, UsedInstance } from '#resources/instances.ts'
import type { RunningWorkload } from './driver.ts'
import type { KeptInstances } from './keep-running.ts'
import type { InstanceRoom } from './room.ts'
import {
  instanceOfKey,
  keysOfVersion,
  type Versioned,
  type VersionedInstance,
} from './versioned.ts'

/** The time between two tries, where room must come from other workloads. */
const AGAIN_MS = 2000

export type ReplaceParts = {
  readonly instances: Pick<
    Instances<VersionedInstance, RunningWorkload>,
    'use' | 'stop' | 'running'
  >
  readonly room: Pick<InstanceRoom, 'assert'>
  readonly kept: Pick<KeptInstances, 'letGo'>
  /** A version that has no room for so long is given up. */
  readonly readyMs: number
}

type SizedVersion = Versioned & { readonly memoryBytes: number }

/** Resolves once it is ready. Rejects with why it is not; with workload_busy where there was no room in the time to be ready. */
export const replaceBy = (
  parts: ReplaceParts,
  version: SizedVersion,
  signal: AbortSignal,
): Promise<UsedInstance<RunningWorkload>> =>
  whileBusy(parts, signal, {
    work: () => parts.instances.use({ ...version, instance: 1 }, { cause: 'change' }, signal),
    help: async () => noRoom(parts, version) === undefined && (await endOlder(parts, version)),
  })

/** Waits until there is room for the first instance once all others of its workload have ended. Rejects as `replaceBy`. */
export const untilRoom = (
  parts: ReplaceParts,
  version: SizedVersion,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (text: string) => void },
): Promise<void> => {
  let said = false
  return whileBusy(parts, signal, {
    async work() {
      const lack = noRoom(parts, version)
      if (lack !== undefined) throw lack
    },
    async help(why) {
      if (!said) tell(why.message)
      said = true
      return false
    },
  })
}

/** Why there is no room for another instance, also where all of its workload end. */
function noRoom(
  { instances, room }: Pick<ReplaceParts, 'instances' | 'room'>,
  { id, account, memoryBytes }: SizedVersion,
): unknown {
  const running = instances.running()
  const own = new Set(running.flatMap((one) => (one.id === id ? [one.key] : [])))
  try {
    room.assert(own, { account, memoryBytes, running })
    return undefined
  } catch (error) {
    return error
  }
}

/** Does the work again and again while there is no room for it; at once where `help` has made room. */
async function whileBusy<T>(
  { readyMs }: Pick<ReplaceParts, 'readyMs'>,
  signal: AbortSignal,
  given: {
    readonly work: () => Promise<T>
    readonly help: (why: ErgonError) => Promise<boolean>
  },
): Promise<T> {
  const untilMs = performance.now() + readyMs
  for (;;) {
    let busy: ErgonError
    try {
      return await given.work()
    } catch (error) {
      busy = busyOf(error)
    }
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) throw busy
    if (!(await given.help(busy))) await sleep(Math.min(leftMs, AGAIN_MS), signal)
  }
}

function busyOf(error: unknown): ErgonError {
  if (error instanceof ErgonError && error.code === 'workload_busy') return error
  throw error
}

/** Ends the last instance of other versions; false where none runs. */
async function endOlder({ instances, kept }: ReplaceParts, version: Versioned): Promise<boolean> {
  const own = keysOfVersion(version)
  const keys = instances
    .running()
    .flatMap(({ id, key }) => (id === version.id && !key.startsWith(own) ? [key] : []))
  const last = keys.toSorted((one, other) => instanceOfKey(one) - instanceOfKey(other)).at(-1)
  if (last === undefined) return false
  kept.letGo(last)
  await instances.stop(last, 'change')
  return true
}
