// Room for another instance: of an account, and in the memory that the node has for workloads.
import { fault } from '#contract/errors.ts'
import { ACCOUNT_INSTANCES_MAX } from '#contract/workloads/workload-limits.ts'
import type { Instances } from '#resources/instances.ts'
import type { RunningWorkload } from './driver.ts'
import type { VersionedInstance } from './versioned.ts'

type Running = ReturnType<Instances<VersionedInstance, RunningWorkload>['running']>

export type WantedRoom = {
  readonly account: string
  readonly memoryBytes: number
  readonly running: Running
}

export interface InstanceRoom {
  /** Notes an instance that starts, and is one of those that run. Throws as `assert`. */
  take(key: string, wanted: WantedRoom): void
  /**
   * Throws workload_busy where another end must come first, and workload_failed where no end helps. The keys are those of the
   * instance itself and of those that end for it.
   */
  assert(keys: ReadonlySet<string>, wanted: WantedRoom): void
}

export function createRoom(memoryBytes: number): InstanceRoom {
  /** Those that have their place: others that only ask for one take none away. */
  const placed = new Map<string, { readonly account: string; readonly bytes: number }>()
  const assert: InstanceRoom['assert'] = (keys, { account, memoryBytes: wanted, running }) => {
    const known = new Set(running.map(({ key }) => key))
    for (const key of placed.keys()) if (!known.has(key)) placed.delete(key)
    const all = [...placed].flatMap(([key, one]) => (keys.has(key) ? [] : [one]))
    if (all.filter((one) => one.account === account).length >= ACCOUNT_INSTANCES_MAX)
      throw busy(`its account has ${ACCOUNT_INSTANCES_MAX} instances that run`)
    if (wanted > memoryBytes)
      throw fault(
        'workload_failed',
        `Could not start the workload: an instance may use ${mb(wanted)}, and all workloads of the node ${mb(memoryBytes)}`,
      )
    const used = all.reduce((sum, { bytes }) => sum + bytes, 0)
    if (used + wanted > memoryBytes)
      throw busy(
        `it needs ${mb(wanted)} of memory, and ${mb(memoryBytes - used)} of the node's ${mb(memoryBytes)} are free`,
      )
  }
  return {
    assert,
    take(key, wanted) {
      assert(new Set([key]), wanted)
      placed.set(key, { account: wanted.account, bytes: wanted.memoryBytes })
    },
  }
}

const busy = (why: string) =>
  fault('workload_busy', `Could not start another instance: ${why}`, { retryAfterS: 2 })

const BYTES_PER_MB = 1_000_000
const mb = (bytes: number): string => `${Math.floor(bytes / BYTES_PER_MB)} MB`
