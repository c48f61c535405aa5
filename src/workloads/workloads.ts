// The workloads of this node: which version runs, how a new one is tried beside it, and what keeps running.
import { systemClock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { SleepCause } from '#contract/intervals.ts'
import { createInstances, NotWanted, type Instances } from '#resources/instances.ts'
import type { ResourceLine } from '#resources/keep-logs.ts'
import type { Resource } from '#resources/resource.ts'
import { createTrials, type Trials } from '#resources/trials.ts'
import type { Queryable } from '#state/connect.ts'
import { alone } from './alone.ts'
import { createCrashes, type Crashes } from './crashes.ts'
import type { RunningWorkload, WorkloadDriver } from './driver.ts'
import { createKeptInstances, type KeptInstances } from './keep-running.ts'
import { sourceOf } from './log-source.ts'
import {
  mountedVolumes,
  readWorkloadVersion,
  workloadSpecOf,
  type WorkloadVersion,
} from './read-version.ts'
import { pulledOf } from './pulled.ts'
import { replaceBy } from './replace.ts'
import { createRoom, type InstanceRoom } from './room.ts'
import { createScaledTeller } from './tell-scaled.ts'
import { instancesOf, keyOfInstance, type Versioned, type VersionedInstance } from './versioned.ts'
import { keepVolumes, noteVolumeBytes, openVolumes } from './volumes/volume-rows.ts'

export interface Workloads {
  /** An instance of the live version. Throws NotWanted where no version is live, or the workload has fewer instances. */
  use(resource: Resource, signal: AbortSignal, nth: number): ReturnType<WorkloadPool['use']>
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
  /** Starts what must run and does not, and looks at crash loops. */
  tend(signal: AbortSignal): Promise<void>
  close(): void
}

export type WorkloadsDeps = {
  readonly state: Queryable
  readonly log: Logger
  readonly driver: WorkloadDriver
  readonly environmentKey: string
  readonly line: (line: ResourceLine) => void
  /** Called when another instance runs from now on. */
  readonly replaced: (id: string) => void
  /** The address of a workload that has become live. */
  readonly urlOf: (host: string) => string
  readonly readyMs: number
  /** Of the node, for all workloads. */
  readonly memoryBytes: number
}

type WorkloadPool = Instances<VersionedInstance, RunningWorkload>

type WorkloadParts = WorkloadsDeps & {
  readonly instances: WorkloadPool
  readonly crashes: Crashes
  readonly trials: Trials
  readonly kept: KeptInstances
}

const READY_MORE_MS = 10_000
/** Those beyond the first are given up after a calm time, and stay a little for an ingress that starts again. */
const FURTHER_IDLE_MS = 10_000

export function createWorkloads(deps: WorkloadsDeps): Workloads {
  const { state, log, readyMs } = deps
  const scaled = createScaledTeller({
    state,
    log,
    countOf: (id) => numbersOf(instances.running().filter((one) => one.id === id && one.isServing)),
  })
  const crashes = createCrashes({
    state,
    log,
    clock: systemClock,
    runningOf: ({ id, version }) =>
      instances.running().flatMap(({ key }) => (key.startsWith(`${id} ${version} `) ? [key] : [])),
  })
  const room = createRoom(deps.memoryBytes)
  const instances: WorkloadPool = createInstances<VersionedInstance, RunningWorkload>({
    state,
    log,
    keyOf: keyOfInstance,
    // A driver says first why one is not.
    readyMs: readyMs + READY_MORE_MS,
    idleMs: ({ sleepAfterMs, instance }) => (instance === 1 ? sleepAfterMs : FURTHER_IDLE_MS),
    changed: scaled.changed,
    async prepare({ id, version, instance }) {
      const row = await readWorkloadVersion(state, id, version)
      return () => start({ ...deps, crashes, room, instances }, row, instance)
    },
  })
  const kept = createKeptInstances({ state, log, instances, crashes })
  const parts: WorkloadParts = { ...deps, instances, crashes, kept, trials: createTrials() }
  const stop: Workloads['stop'] = async (id, cause) => {
    kept.forget(id)
    await instances.stopAll(id, cause)
  }
  return {
    async use(resource, signal, nth) {
      const used = async () => {
        const { scaleMax, ...live } = await liveOf(state, resource)
        if (nth > scaleMax) throw new NotWanted(`It has ${scaleMax} instances: ${resource.id}`)
        return await instances.use({ ...live, instance: nth }, { cause: 'connection' }, signal)
      }
      // Another version may have become live while this one was waited for.
      return await used().catch((error: unknown) => {
        orNone(error)
        return used()
      })
    },
    deploy: (resource, signal, aside) => deploy(parts, resource, { signal, aside }),
    stop,
    async remove(id) {
      await stop(id, 'change')
      crashes.forget(id)
      await deps.driver.volumes.keep(id, new Set())
      await state.query('select remove_workload($1)', [id])
      await prune(deps)
    },
    async tend(signal) {
      await noteVolumeBytes(deps)
      await kept.tend(signal)
    },
    close() {
      scaled.close()
      instances.close()
    },
  }
}

async function start(
  deps: WorkloadsDeps &
    Pick<WorkloadParts, 'crashes' | 'instances'> & { readonly room: InstanceRoom },
  row: WorkloadVersion,
  instance: number,
): Promise<RunningWorkload> {
  const { driver, environmentKey, line, crashes, room, instances } = deps
  const { id, version } = row
  if (mountedVolumes(row.volumes).length > 0 && !row.isLive && !row.isWanted)
    throw new NotWanted(`Another version has its volumes: ${id}`)
  const pulled = await pulledOf(deps, row, AbortSignal.timeout(deps.readyMs))
  const source = sourceOf({ version, instance })
  const tell = (text: string) => line({ resource: id, source, level: 'service', text, isOwn: true })
  const spec = workloadSpecOf(row, { ...pulled, instance }, environmentKey)
  try {
    room.take(keyOfInstance(spec), { ...spec, running: instances.running() })
  } catch (error) {
    tell(messageOf(error))
    throw error
  }
  await openVolumes(deps, spec)
  return await driver.start(spec, {
    line: (level, text) => line({ resource: id, source, level, text }),
    ended(end) {
      tell(`An instance has ended: ${end.words}`)
      crashes.add({ id, version, instance }, end)
    },
  })
}

/** So many of their numbers differ: while a version replaces another, instances of both have the same. */
const numbersOf = (running: readonly { readonly key: string }[]): number =>
  new Set(running.map(({ key }) => key.split(' ').at(-1))).size

async function liveOf(
  state: Queryable,
  resource: Resource,
): Promise<Versioned & { readonly scaleMax: number }> {
  const { rows } = await state.query<Omit<Versioned, keyof Resource> & { scaleMax: number }>(
    `select live_version as version, sleep_after_ms as "sleepAfterMs", scale_max as "scaleMax"
     from workloads join resources using (id) where id = $1 and live_version is not null`,
    [resource.id],
  )
  const [live] = rows
  if (live === undefined) throw new NotWanted(`No version is live: ${resource.id}`)
  return { ...resource, ...live }
}

async function deploy(
  parts: WorkloadParts,
  resource: Resource,
  { signal, aside }: { readonly signal: AbortSignal; readonly aside: () => void },
): Promise<'failed' | 'crash_loop' | undefined> {
  const { id } = resource
  const { state } = parts
  const wanted = await readWorkloadVersion(state, id, 'wanted')
  if (!wanted.isLive && wanted.failure === null) {
    aside()
    const trial = () => tryVersion(parts, wanted, signal)
    await parts.trials.run(resource.account, trial, signal)
  }
  // Also where nothing was tried: an earlier try may have made it live without hearing so.
  const live = await liveOf(state, resource).catch(orNone)
  if (live !== undefined) await answerByLive(parts, live, signal)
  await prune(parts)
  await keepVolumes(parts, id)
  if (live === undefined) return 'failed'
  return parts.crashes.isLooping(live) ? 'crash_loop' : undefined
}

function orNone(error: unknown): undefined {
  if (!(error instanceof NotWanted)) throw error
}

/**
 * Starts a version beside the live one, with as many instances as that has, and makes it live. Resolves with false where it
 * cannot be, and writes down why.
 */
async function tryVersion(
  parts: WorkloadParts,
  wanted: WorkloadVersion,
  signal: AbortSignal,
): Promise<boolean> {
  const { state, driver, instances, crashes } = parts
  const { id, account, name, version, sleepAfterMs, scaleMax } = wanted
  const own = { id, account, name, version, sleepAfterMs }
  const running = numbersOf(instances.running().filter((one) => one.id === id && one.isServing))
  const replace = () =>
    replaceLive(parts, own, { count: Math.max(1, Math.min(running, scaleMax)), signal })
  try {
    await pulledOf(parts, wanted, signal)
    const volumes = mountedVolumes(wanted.volumes)
    // Before the live instance ends for it.
    await driver.volumes.assertRoom({ id, volumes })
    if (volumes.length === 0) await replace()
    else await alone(parts, own, { live: await liveVersionOf(state, wanted), work: replace })
  } catch (error) {
    const failure = failureOf(error)
    const source = sourceOf({ version, instance: 1 })
    const tell = (text: string) =>
      parts.line({ resource: id, source, level: 'service', text, isOwn: true })
    if (failure === undefined) {
      // A start says itself why it failed; a pull does not.
      if (error instanceof ErgonError && error.code === 'registry_unreachable') tell(error.message)
      throw error
    }
    tell(failure)
    await state.query('select fail_version($1, $2, $3)', [id, version, failure])
    return false
  }
  crashes.forget(id)
  return true
}

async function replaceLive(
  parts: WorkloadParts,
  own: Versioned,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<void> {
  const further = instancesOf(own, count).slice(1)
  const first = replaceBy(parts, own, signal)
  const others = further.map((one) => parts.instances.use(one, { cause: 'change' }, signal))
  // Those that do not start now do later, as requests need them.
  const settled = Promise.allSettled(others)
  try {
    await first
    await settled
    await makeLive(parts, own)
  } finally {
    for (const use of [first, ...others])
      void use.then(({ release }) => release()).catch(() => undefined)
  }
}

/** The number of the live version; undefined where none is. */
const liveVersionOf = async (state: Queryable, resource: Resource): Promise<number | undefined> =>
  (await liveOf(state, resource).catch(orNone))?.version

async function makeLive(
  { state, urlOf }: WorkloadParts,
  { id, version }: Versioned,
): Promise<void> {
  const { rows } = await state.query<{ made: boolean }>(
    `select make_workload_live(id, $2, $3 || host || $4) as made from workloads where id = $1`,
    [id, version, ...urlOf('*').split('*')],
  )
  if (rows[0]?.made !== true) throw new NotWanted(id)
}

/** Later requests go to the live version. Others go on for the requests that they answer. */
async function answerByLive(
  { instances, kept, replaced }: WorkloadParts,
  live: Versioned & { readonly scaleMax: number },
  signal: AbortSignal,
): Promise<void> {
  replaced(live.id)
  await kept.keep(live, signal)
  instances.retireOthers(live.id, new Set(instancesOf(live, live.scaleMax).map(keyOfInstance)))
}

const FINAL: ReadonlySet<string> = new Set(['workload_failed', 'workload_busy'])

/** Of the version itself, or that it had no room in its time; undefined where a later try may succeed. */
function failureOf(error: unknown): string | undefined {
  if (!(error instanceof ErgonError)) return undefined
  const isFinal = FINAL.has(error.code) || error.code.startsWith('image_')
  return isFinal ? error.message : undefined
}

async function prune({ state, driver, log }: WorkloadsDeps): Promise<void> {
  const { rows } = await state.query<{ digest: string }>(
    `select distinct digest from workload_versions v join resources n on n.id = v.workload
     where digest is not null and n.actual <> 'deleted'`,
  )
  await driver
    .prune(new Set(rows.map(({ digest }) => digest)))
    .catch((error: unknown) => log.warn('Images are not removed', { error: messageOf(error) }))
}
