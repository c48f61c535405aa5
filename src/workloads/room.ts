// Room for another instance: of an account, and in the memory that the node has for workloads.
import { fault } from '#contract/errors.ts'
import { ACCOUNT_INSTANCES_MAX } from '#contract/workload-limits.ts'
import type { Instances } from '#resources/instances.ts'
import type { RunningWorkload } from './driver.ts'
import type { VersionedInstance } from './versioned.ts'

type Running = ReturnType<Instances<VersionedInstance, RunningWorkload>['running']>

export interface InstanceRoom {
  /**
   * Notes an instance that starts, and is one of those that run. Throws workload_busy where another end must come first, and
   * workload_failed where no end helps.
   */
  take(key: string, given: { readonly memoryBytes: number; readonly running: Running }): void
}

export function createRoom(memoryBytes: number): InstanceRoom {
  const sizes = new Map<string, number>()
  return {
    take(key, { memoryBytes: wanted, running }) {
      const account = running.find((one) => one.key === key)?.account
      const count = running.filter((one) => one.account === account).length
      if (count > ACCOUNT_INSTANCES_MAX)
        throw busy(`its account has ${ACCOUNT_INSTANCES_MAX} instances that run`)
      if (wanted > memoryBytes)
        throw fault(
          'workload_failed',
          `Could not start the workload: an instance may use ${mb(wanted)}, and all workloads of the node ${mb(memoryBytes)}`,
        )
      const others = running.filter((one) => one.key !== key)
      for (const known of sizes.keys())
        if (!others.some((one) => one.key === known)) sizes.delete(known)
      const used = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      if (used + wanted > memoryBytes)
        throw busy(
          `it needs ${mb(wanted)} of memory, and ${mb(memoryBytes - used)} of the node's ${mb(memoryBytes)} are free`,
        )
      sizes.set(key, wanted)
    },
  }
}

const busy = (why: string) =>
  fault('workload_busy', `Could not start another instance: ${why}`, { retryAfterS: 2 })

const BYTES_PER_MB = 1_000_000
const mb = (bytes: number): string => `${Math.floor(bytes / BYTES_PER_MB)} MB`
