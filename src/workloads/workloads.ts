// The workloads of this node: which version runs, how a new one is tried beside it, and what keeps running.
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { SleepCause } from '#contract/intervals.ts'
import { createInstances, NotWanted, type Instances } from '#resources/instances.ts'
import type { ResourceLine } from '#resources/keep-logs.ts'
import type { Resource } from '#resources/resource.ts'
import { createTrials, type Trials } from '#resources/trials.ts'
import type { Queryable } from '#state/connect.ts'
import { createCrashes, type Crashes } from './crashes.ts'
import type { RunningWorkload, WorkloadDriver } from './driver.ts'
import {
  createKeptInstances,
  keyOfVersion,
  type KeptInstances,
  type Versioned,
} from './keep-running.ts'
import { readWorkloadVersion, workloadSpecOf, type WorkloadVersion } from './read-version.ts'
import { pulledOf } from './pulled.ts'

export interface Workloads {
  /** As the live version runs. Throws NotWanted where there is none. */
  use: Instances<Resource, RunningWorkload>['use']
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
}

type WorkloadParts = WorkloadsDeps & {
  readonly instances: Instances<Versioned, RunningWorkload>
  readonly crashes: Crashes
  readonly trials: Trials
  readonly kept: KeptInstances
}

const READY_MORE_MS = 10_000
const FIRST = 1

export function createWorkloads(deps: WorkloadsDeps): Workloads {
  const { state, log, readyMs } = deps
  const crashes = createCrashes(deps)
  const instances = createInstances<Versioned, RunningWorkload>({
    state,
    log,
    keyOf: keyOfVersion,
    // A driver says first why one is not.
    readyMs: readyMs + READY_MORE_MS,
    idleMs: ({ sleepAfterMs }) => sleepAfterMs,
    start: (resource) => start(deps, crashes, resource),
  })
  const kept = createKeptInstances({ state, log, instances, crashes })
  const parts: WorkloadParts = { ...deps, instances, crashes, kept, trials: createTrials() }
  const stop: Workloads['stop'] = async (id, cause) => {
    const keys = instances.running().flatMap((one) => (one.id === id ? [one.key] : []))
    for (const key of keys) kept.forget(key)
    await Promise.all(keys.map((key) => instances.stop(key, cause)))
  }
  return {
    use: async (resource, waker, signal) =>
      await instances.use(await liveOf(state, resource), waker, signal),
    deploy: (resource, signal, aside) => deploy(parts, resource, { signal, aside }),
    stop,
    async remove(id) {
      await stop(id, 'change')
      crashes.forget(id)
      await state.query('select remove_workload($1)', [id])
      await prune(deps)
    },
    tend: (signal) => kept.tend(signal),
    close: () => instances.close(),
  }
}

async function start(
  deps: WorkloadsDeps,
  crashes: Crashes,
  { id, version }: Versioned,
): Promise<RunningWorkload> {
  const { state, driver, environmentKey, line } = deps
  const row = await readWorkloadVersion(state, id, version)
  const pulled = await pulledOf(deps, row, AbortSignal.timeout(deps.readyMs))
  const source = String(version)
  return await driver.start(workloadSpecOf(row, { ...pulled, instance: FIRST }, environmentKey), {
    line: (level, text) => line({ resource: id, source, level, text }),
    ended(end) {
      line({
        resource: id,
        source,
        level: 'service',
        text: `An instance has ended: ${end.words}`,
        isOwn: true,
      })
      crashes.add({ id, version }, end)
    },
  })
}

async function liveOf(state: Queryable, resource: Resource): Promise<Versioned> {
  const { rows } = await state.query<{ version: number | null; sleepAfterMs: number }>(
    'select live_version as version, sleep_after_ms as "sleepAfterMs" from workloads where id = $1',
    [resource.id],
  )
  const { version = null, sleepAfterMs = 0 } = rows[0] ?? {}
  if (version === null) throw new NotWanted(`No version is live: ${resource.id}`)
  return { ...resource, version, sleepAfterMs }
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
  const { rows } = await state.query<{ live: number | null }>(
    'select live_version as live from workloads where id = $1',
    [id],
  )
  const version = rows[0]?.live ?? null
  // Also where nothing was tried: an earlier try may have made it live without hearing so.
  if (version !== null) await answerByLive(parts, { ...resource, version }, signal)
  await prune(parts)
  if (version === null) return 'failed'
  return parts.crashes.isLooping({ id, version }) ? 'crash_loop' : undefined
}

/** Starts a version beside the live one, and makes it live; resolves with false where it cannot be, and writes down why. */
async function tryVersion(
  parts: WorkloadParts,
  wanted: WorkloadVersion,
  signal: AbortSignal,
): Promise<boolean> {
  const { state, instances, crashes } = parts
  const { id, account, name, version, sleepAfterMs } = wanted
  const own = { id, account, name, version, sleepAfterMs }
  try {
    await pulledOf(parts, wanted, signal)
    const use = await instances.use(own, { cause: 'change' }, signal)
    try {
      await makeLive(parts, own)
    } finally {
      use.release()
    }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined) throw error
    parts.line({
      resource: id,
      source: String(version),
      level: 'service',
      text: failure,
      isOwn: true,
    })
    await state.query(
      'update workload_versions set failure = $3 where workload = $1 and version = $2',
      [id, version, failure],
    )
    return false
  }
  crashes.forget(id)
  return true
}

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
  live: Resource & Pick<Versioned, 'version'>,
  signal: AbortSignal,
): Promise<void> {
  replaced(live.id)
  await kept.keep(live, signal)
  for (const { id, key } of instances.running()) {
    if (id !== live.id || key === keyOfVersion(live)) continue
    kept.letGo(key)
    instances.retire(key)
  }
}

/** Of the version itself, in words; undefined where a later try may succeed. */
function failureOf(error: unknown): string | undefined {
  if (!(error instanceof ErgonError)) return undefined
  const isFinal = error.code === 'workload_failed' || error.code.startsWith('image_')
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
