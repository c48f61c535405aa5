// Instances that run without a request: those of workloads that want one at least. Each is a use that does not end.
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Instances } from '#resources/instances.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import type { Crashes } from './crashes.ts'
import type { RunningWorkload } from './driver.ts'
import { readWorkloadVersion, type WorkloadVersion } from './read-version.ts'

/** A version of a resource. */
export type Versioned = Resource & { readonly version: number; readonly sleepAfterMs: number }

export const keyOfVersion = ({ id, version }: Pick<Versioned, 'id' | 'version'>): string =>
  `${id} ${version}`

export interface KeptInstances {
  /** Keeps an instance of the live version running, or lets it sleep, as the workload wants. Never rejects for its faults. */
  keep(resource: Resource, signal: AbortSignal): Promise<void>
  /** Lets an instance sleep. */
  letGo(key: string): void
  /** Of one that is being ended. */
  forget(key: string): void
  /** Starts what must run and does not, looks at crash loops, and resumes what its budget allows again. */
  tend(signal: AbortSignal): Promise<void>
}

type Deps = {
  readonly state: Queryable
  readonly log: Logger
  readonly instances: Pick<Instances<Versioned, RunningWorkload>, 'use'>
  readonly crashes: Pick<Crashes, 'endIfSteady'>
}

/** The energy that is held for the start of an instance (account-cells.ts). */
const LEAST_NJ = '1000000000'
const RUNNING = `select n.id, n.account, n.name, n.actual, w.live_version as version from resources n join workloads w using (id)
  where n.wanted = 'deployed' and n.actual in ('deployed', 'crash_loop') and (w.scale_min > 0 or n.actual = 'crash_loop')
  order by n.id`

export function createKeptInstances({ state, log, instances, crashes }: Deps): KeptInstances {
  const kept = new Map<string, () => void>()
  const letGo = (key: string) => {
    kept.get(key)?.()
    kept.delete(key)
  }
  const begin = async (own: Versioned, signal: AbortSignal) => {
    const { release } = await instances.use(own, { cause: 'change' }, signal)
    const key = keyOfVersion(own)
    if (kept.has(key)) release()
    else kept.set(key, release)
  }
  const keep: KeptInstances['keep'] = async (resource, signal) => {
    const { id } = resource
    const live = await liveVersion(state, id)
    if (live === undefined) return
    const { version, sleepAfterMs, scaleMin } = live
    const own = { ...resource, version, sleepAfterMs }
    if (scaleMin === 0) return letGo(keyOfVersion(own))
    if (kept.has(keyOfVersion(own))) return
    await begin(own, signal).catch(async (error: unknown) => {
      if (error instanceof ErgonError && error.code === 'budget_exhausted')
        await state.query('select hold_by_budget($1)', [id])
      else if (!signal.aborted)
        log.debug('A workload does not run', { id, error: messageOf(error) })
    })
  }
  return {
    keep,
    letGo,
    forget: (key) => void kept.delete(key),
    async tend(signal) {
      await state.query("select release_by_budget('workload', $1)", [LEAST_NJ])
      const { rows } = await state.query<Resource & { actual: string; version: number }>(RUNNING)
      for (const { actual, version, ...resource } of rows) {
        signal.throwIfAborted()
        if (actual === 'crash_loop') await crashes.endIfSteady({ id: resource.id, version })
        await keep(resource, signal)
      }
    },
  }
}

/** Undefined where no version is live. Throws while the state is away. */
const liveVersion = (state: Queryable, id: string): Promise<WorkloadVersion | undefined> =>
  readWorkloadVersion(state, id, 'live').catch((error: unknown) => {
    if (error instanceof ErgonError && error.code === 'workload_not_found') return undefined
    throw error
  })
