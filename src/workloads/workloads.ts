// The workloads of this node: the running version, the trial of a new one beside it, and the instances that keep
// running.
import { systemClock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { SleepCause } from '#contract/resources/intervals.ts'
import { PULLS_MAX } from '#contract/workloads/workload-limits.ts'
import { createInstances, NotWanted } from '#resources/instances.ts'
import { NotYet } from '#resources/reconciler.ts'
import type { Resource } from '#resources/resource.ts'
import { createTrials, type Trials } from '#resources/trials.ts'
import { deployWanted, liveOf, countInstances, orNone, type DeployParts } from './deploy-version.ts'
import { createCrashes } from './crashes.ts'
import type {
  RunningWorkload,
  VolumesWait,
  WorkloadEvents,
  WorkloadSpec,
  WorkloadVolume,
} from './driver.ts'
import { createKeptInstances } from './keep-running.ts'
import { sourceOf } from './log-source.ts'
import {
  mountedVolumes,
  readWorkloadVersion,
  workloadSpecOf,
  type WorkloadVersion,
} from './read-version.ts'
import { knownOf, pulledOf } from './pulled.ts'
import { createRoom, type InstanceRoom } from './room.ts'
import { untilLate } from './start-limit.ts'
import { createScaledTeller } from './tell-scaled.ts'
import { keyOfInstance, type VersionedInstance } from './versioned.ts'
import { createImageMeasures, keepWantedImages } from './image-rows.ts'
import { noteVolumeBytes, noteWaits, openVolumes } from './volumes/volume-rows.ts'

export interface Workloads {
  /** An instance of the live version. Throws NotWanted where no version is live, or the workload has fewer instances. */
  use(
    resource: Resource,
    signal: AbortSignal,
    nth: number,
  ): ReturnType<DeployParts['instances']['use']>
  /**
   * Makes the wanted version live once it is ready, beside the one that answers until then. A version that does not become
   * ready is marked: it is not tried again. Resolves with 'failed' where no version is live.
   */
  deploy(
    resource: Resource,
    signal: AbortSignal,
    aside: () => void,
  ): Promise<'failed' | 'crash_loop' | undefined>
  stop(id: string, cause: SleepCause): Promise<void>
  remove(id: string): Promise<void>
  /** Begins to start what must run and does not, and looks at crash loops. */
  tend(signal: AbortSignal): Promise<void>
  /** Resolves when nothing that `tend` began goes on. */
  idle(): Promise<void>
  close(): void
}

type OwnParts = 'instances' | 'crashes' | 'trials' | 'pulls' | 'kept' | 'room' | 'endStarts'

export type WorkloadsDeps = Omit<DeployParts, OwnParts> & {
  /** Other turns in tests. */
  readonly pulls?: Trials
  /** The memory of the node for all workloads. */
  readonly memoryBytes: number
}

const READY_MORE_MS = 10_000
/** Those beyond the first are given up after a calm time, and stay a little for an ingress that starts again. */
const FURTHER_IDLE_MS = 10_000
/** In the refusal of a wake that others hold up. */
const NOT_YET_S = 15
const PULL_RESTS =
  'Could not start the workload: its image is not on the node, and pulls of its account rest after failures'

export function createWorkloads(deps: WorkloadsDeps): Workloads {
  const { state, log, readyMs } = deps
  const scaled = createScaledTeller({
    state,
    log,
    countOf: (id) =>
      countInstances(instances.running().filter((one) => one.id === id && one.isServing)),
  })
  const crashes = createCrashes({
    state,
    log,
    clock: systemClock,
    runningOf: ({ id, version }) =>
      instances.running().flatMap(({ key }) => (key.startsWith(`${id} ${version} `) ? [key] : [])),
  })
  const { starts, ...turns } = createTurns(deps)
  const own = { ...deps, ...turns, crashes, room: createRoom(deps.memoryBytes) }
  const measures = createImageMeasures(deps)
  const instances: DeployParts['instances'] = createInstances<VersionedInstance, RunningWorkload>({
    state,
    log,
    keyOf: keyOfInstance,
    // A driver says first why one is not.
    readyMs: readyMs + READY_MORE_MS,
    idleMs: ({ sleepAfterMs, instance }) => (instance === 1 ? sleepAfterMs : FURTHER_IDLE_MS),
    changed: scaled.changed,
    async prepare({ id, version, instance }) {
      // Before the state is read: a wish that ends meanwhile ends the start too.
      const signal = starts.signalOf(id)
      const row = await readWorkloadVersion(state, id, version)
      return () => start({ ...own, instances }, row, { instance, signal })
    },
  })
  const kept = createKeptInstances({ state, log, instances, crashes })
  const parts: DeployParts = { ...own, instances, kept, endStarts: starts.end }
  const stop: Workloads['stop'] = async (id, cause) => {
    kept.forget(id)
    starts.end(id)
    await instances.stopAll(id, cause)
  }
  return {
    // Another version may have become live while the first one was waited for.
    use: (...asked) =>
      useLive(parts, ...asked)
        .catch((error: unknown) => {
          orNone(error)
          return useLive(parts, ...asked)
        })
        .catch(orBusy),
    deploy: (resource, signal, aside) =>
      starts.during(resource.id, signal, () => deployWanted(parts, resource, { signal, aside })),
    stop,
    async remove(id) {
      await stop(id, 'change')
      crashes.forget(id)
      await deps.driver.volumes.keep(id, new Set())
      await state.query('select remove_workload($1)', [id])
      await keepWantedImages(deps)
    },
    async tend(signal) {
      measures.begin(signal)
      await noteVolumeBytes(deps)
      await kept.tend(signal)
    },
    async idle() {
      await Promise.all([kept.idle(), measures.idle()])
    },
    close() {
      for (const part of [scaled, instances, starts]) part.close()
    },
  }
}

/** An instance of the live version; throws NotWanted for a number beyond those that may run. */
async function useLive(
  { state, instances }: Pick<DeployParts, 'state' | 'instances'>,
  ...[resource, signal, nth]: Parameters<Workloads['use']>
): ReturnType<Workloads['use']> {
  const { scaleMax, ...live } = await liveOf(state, resource)
  if (nth > scaleMax) throw new NotWanted(`It has ${scaleMax} instances: ${resource.id}`)
  return await instances.use({ ...live, instance: nth }, { cause: 'connection' }, signal)
}

const createTurns = ({ pulls = createTrials({ most: PULLS_MAX.node }) }) => ({
  trials: createTrials(),
  pulls,
  starts: createStarts(),
})

/** The starts of workloads: what they wait for ends with the wish for the workload. */
function createStarts() {
  const endings = new Map<string, AbortController>()
  const end = (id: string): void => {
    endings.get(id)?.abort(new NotWanted(`Not wanted any more: ${id}`))
    endings.delete(id)
  }
  return {
    signalOf(id: string): AbortSignal {
      const ending = endings.get(id) ?? new AbortController()
      endings.set(id, ending)
      return ending.signal
    },
    end,
    /** A change that nobody wants any more waits for its starts, and the next change for it: the signal ends them. */
    async during<T>(id: string, signal: AbortSignal, change: () => Promise<T>): Promise<T> {
      const unwanted = () => end(id)
      signal.addEventListener('abort', unwanted, { once: true })
      return await change().finally(() => signal.removeEventListener('abort', unwanted))
    },
    close: () => [...endings.keys()].forEach(end),
  }
}

async function start(
  deps: WorkloadsDeps &
    Pick<DeployParts, 'crashes' | 'instances' | 'pulls'> & { readonly room: InstanceRoom },
  row: WorkloadVersion,
  { instance, signal }: { readonly instance: number; readonly signal: AbortSignal },
): Promise<RunningWorkload> {
  const { driver, environmentKey, line, crashes, room, instances } = deps
  const { id, version } = row
  signal.throwIfAborted()
  // Before its image is pulled for nothing. openVolumes() looks again: the version may be replaced meanwhile.
  if (mountedVolumes(row.volumes).length > 0 && !row.isLive && !row.isWanted)
    throw new NotWanted(`Another version has its volumes: ${id}`)
  const late = AbortSignal.timeout(deps.readyMs)
  const source = sourceOf({ version, instance })
  const tell = (text: string) => line({ resource: id, source, level: 'service', text, isOwn: true })
  const toldPull = () =>
    pulledOf(deps, row, AbortSignal.any([signal, late])).catch((error: unknown) => {
      const why = error instanceof NotYet ? new NotYet(PULL_RESTS) : error
      if (why instanceof ErgonError || why instanceof NotYet) tell(why.message)
      throw why
    })
  const pulled = knownOf(driver, row) ?? (await toldPull())
  const spec = workloadSpecOf(row, { ...pulled, instance }, environmentKey)
  try {
    room.take(keyOfInstance(spec), { ...spec, running: instances.running() })
  } catch (error) {
    tell(messageOf(error))
    throw error
  }
  const events: WorkloadEvents = {
    line: (level, text) => line({ resource: id, source, level, text }),
    ended(end) {
      tell(`An instance has ended: ${end.words}`)
      crashes.add({ id, version, instance }, end)
    },
  }
  return await untilLate({ ...deps, late, signal, tell }, async (wait) => {
    const volumes = await openIn(deps, spec, wait)
    return await driver.start({ ...spec, volumes }, events, wait)
  })
}

const openIn = async (
  deps: WorkloadsDeps,
  spec: WorkloadSpec,
  wait: VolumesWait,
): Promise<readonly WorkloadVolume[]> =>
  spec.volumes.length === 0
    ? spec.volumes
    : await noteWaits(deps, { id: spec.id, wait }, (noted) =>
        openVolumes(deps, spec, (given) => deps.driver.volumes.open(given, noted)),
      )

/** Requests come again. A version is tried again: it has not failed. */
function orBusy(error: unknown): never {
  throw error instanceof NotYet
    ? fault('workload_busy', error.message, { retryAfterS: NOT_YET_S })
    : error
}
