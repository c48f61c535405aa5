// The first instance of a new version. It starts beside those of the version before it. Where the account or the node has no
// room for it, these end for it.
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Instances, UsedInstance } from '#resources/instances.ts'
import type { RunningWorkload } from './driver.ts'
import type { KeptInstances } from './keep-running.ts'
import {
  instanceOfKey,
  keysOfVersion,
  type Versioned,
  type VersionedInstance,
} from './versioned.ts'

/** The time between two tries, where room must come from other workloads. */
const AGAIN_MS = 2000

type ReplaceParts = {
  readonly instances: Pick<
    Instances<VersionedInstance, RunningWorkload>,
    'use' | 'stop' | 'running'
  >
  readonly kept: Pick<KeptInstances, 'letGo'>
  /** A version that has no room for so long is given up. */
  readonly readyMs: number
}

/** Resolves once it is ready. Rejects with why it is not; with workload_busy where there was no room in the time to be ready. */
export async function replaceBy(
  parts: ReplaceParts,
  version: Versioned,
  signal: AbortSignal,
): Promise<UsedInstance<RunningWorkload>> {
  const untilMs = performance.now() + parts.readyMs
  for (;;) {
    const outcome = await parts.instances
      .use({ ...version, instance: 1 }, { cause: 'change' }, signal)
      .catch(orBusy)
    if (!(outcome instanceof ErgonError)) return outcome
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) throw outcome
    if (!(await endOlder(parts, version))) await sleep(Math.min(leftMs, AGAIN_MS), signal)
  }
}

function orBusy(error: unknown): ErgonError {
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
