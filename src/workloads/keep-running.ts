// Instances that run without a request: those of workloads that want one at least. Each is a use that does not end.
import { systemClock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { START_NJ } from '#ledger/budgets.ts'
import type { Instances } from '#resources/instances.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import { createCare } from './care.ts'
import type { Crashes } from './crashes.ts'
import type { RunningWorkload } from './driver.ts'
import { readWorkloadVersion, type WorkloadVersion } from './read-version.ts'
import { instancesOf, keyOfInstance, type VersionedInstance } from './versioned.ts'

export interface KeptInstances {
  /**
   * Keeps as many instances of the live version running as the workload wants. Never rejects for their faults: resolves
   * with false where one does not run.
   */
  keep(resource: Resource, signal: AbortSignal): Promise<boolean>
  /** Of a workload whose instances are being ended. */
  forget(id: string): void
  /** Keeps one no more, until `keep` finds it lacking. */
  letGo(key: string): void
  /** Begins to start missing instances, checks for crash loops, and resumes workloads whose budget has room again. */
  tend(signal: AbortSignal): Promise<void>
  /** Resolves when no start that `tend` began goes on. */
  idle(): Promise<void>
}

type Deps = {
  readonly state: Queryable
  readonly log: Logger
  readonly instances: Pick<Instances<VersionedInstance, RunningWorkload>, 'use'>
  readonly crashes: Pick<Crashes, 'endIfSteady'>
}

type RunningRow = Resource & { readonly actual: string; readonly version: number }

const RUNNING = `select n.id, n.account, n.name, n.actual, n.live_version as version from resources n join workloads w using (id)
  where n.wanted = 'deployed' and n.actual in ('deployed', 'crash_loop') and (w.scale_min > 0 or n.actual = 'crash_loop')
  order by n.id`

export function createKeptInstances({ state, log, instances, crashes }: Deps): KeptInstances {
  const kept = new Map<string, { readonly id: string; readonly release: () => void }>()
  const letGo = (key: string) => {
    kept.get(key)?.release()
    kept.delete(key)
  }
  const begin = async (own: VersionedInstance, signal: AbortSignal) => {
    const { release } = await instances.use(own, { cause: 'change' }, signal)
    const key = keyOfInstance(own)
    if (kept.has(key)) release()
    else kept.set(key, { id: own.id, release })
  }
  const keepOne = (own: VersionedInstance, signal: AbortSignal): Promise<boolean> =>
    begin(own, signal).then(
      () => true,
      (error: unknown) => {
        // Where others hold the rest of a budget, it is tried again.
        const { id, instance } = own
        if (!signal.aborted)
          log.debug('A workload does not run', { id, instance, error: messageOf(error) })
        return false
      },
    )
  const keep: KeptInstances['keep'] = async (resource, signal) => {
    const live = await liveVersion(state, resource.id)
    if (live === undefined) return true
    const { version, sleepAfterMs, scaleMin } = live
    const wanted = instancesOf({ ...resource, version, sleepAfterMs }, scaleMin)
    const keys = new Set(wanted.map(keyOfInstance))
    for (const [key, { id }] of kept) if (id === resource.id && !keys.has(key)) letGo(key)
    const lacking = wanted.filter((own) => !kept.has(keyOfInstance(own)))
    const ends = await Promise.all(lacking.map((own) => keepOne(own, signal)))
    return ends.every(Boolean)
  }
  const care = createCare<RunningRow>({
    clock: systemClock,
    async work({ actual, version, ...resource }, signal) {
      try {
        if (actual === 'crash_loop') await crashes.endIfSteady({ id: resource.id, version })
        return await keep(resource, signal)
      } catch (error) {
        if (!signal.aborted)
          log.warn('A workload is not tended', { id: resource.id, error: messageOf(error) })
        return false
      }
    },
  })
  return {
    keep,
    letGo,
    forget(id) {
      for (const [key, one] of kept) if (one.id === id) kept.delete(key)
    },
    async tend(signal) {
      await state.query("select release_by_budget('workload', $1)", [String(START_NJ)])
      care.begin((await state.query<RunningRow>(RUNNING)).rows, signal)
    },
    idle: () => care.idle(),
  }
}

/** Undefined where no version is live. Throws while the state is away. */
const liveVersion = (state: Queryable, id: string): Promise<WorkloadVersion | undefined> =>
  readWorkloadVersion(state, id, 'live').catch((error: unknown) => {
    if (error instanceof ErgonError && error.code === 'workload_not_found') return undefined
    throw error
  })
