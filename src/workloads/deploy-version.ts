// Deployments of workloads: the wanted version is tried beside the live one, and takes over once it is ready.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { NotWanted, type Instances } from '#resources/instances.ts'
import type { ResourceLine } from '#resources/keep-logs.ts'
import type { Resource } from '#resources/resource.ts'
import type { Trials } from '#resources/trials.ts'
import type { Queryable } from '#state/connect.ts'
import { aloneOnceReady } from './alone.ts'
import type { Crashes } from './crashes.ts'
import type { RunningWorkload, WorkloadDriver } from './driver.ts'
import type { KeptInstances } from './keep-running.ts'
import { keepWantedImages } from './image-rows.ts'
import { sourceOf } from './log-source.ts'
import { endForgottenVersions } from './older-versions.ts'
import { mountedVolumes, readWorkloadVersion, type WorkloadVersion } from './read-version.ts'
import { pulledOf } from './pulled.ts'
import { replaceBy } from './replace.ts'
import type { InstanceRoom } from './room.ts'
import {
  instanceOfKey,
  instancesOf,
  keyOfInstance,
  type Versioned,
  type VersionedInstance,
} from './versioned.ts'
import { keepVolumes } from './volumes/volume-rows.ts'

export type DeployParts = {
  readonly state: Queryable
  readonly log: Logger
  readonly driver: WorkloadDriver
  readonly line: (line: ResourceLine) => void
  /** Called when another instance runs from now on. */
  readonly replaced: (id: string) => void
  /** The address of a workload that has become live. */
  readonly urlOf: (host: string) => string
  readonly readyMs: number
  /** All images of an account may have so many bytes on the node. */
  readonly imageBytesMax: number
  readonly instances: Instances<VersionedInstance, RunningWorkload>
  readonly crashes: Crashes
  readonly trials: Trials
  /** Turns of their own: a slow registry holds up no trial. */
  readonly pulls: Trials
  readonly kept: KeptInstances
  readonly environmentKey: string
  readonly room: Pick<InstanceRoom, 'assert'>
  /** Ends the waits of all starts of a workload that go on. */
  readonly endStarts: (id: string) => void
}

/** See Workloads.deploy(). */
export async function deployWanted(
  parts: DeployParts,
  resource: Resource,
  { signal, aside }: { readonly signal: AbortSignal; readonly aside: () => void },
): Promise<'failed' | 'crash_loop' | undefined> {
  const { id } = resource
  const { state } = parts
  const wanted = await readWorkloadVersion(state, id, 'wanted')
  if (!wanted.isLive && wanted.failure === null) {
    aside()
    const trial = () => orFailed(parts, wanted, () => tryVersion(parts, wanted, signal))
    if (await pullVersion(parts, wanted, signal))
      await parts.trials.run(resource.account, trial, signal)
  }
  // Also where nothing was tried: an earlier try may have made it live without hearing so.
  const live = await liveOf(state, resource).catch(orNone)
  if (live !== undefined) {
    // Instances that do not become ready hold up no other change.
    aside()
    await answerByLive(parts, live, signal)
  }
  await endForgottenVersions(parts, resource.account, signal)
  await keepWantedImages(parts)
  await keepVolumes(parts, id)
  if (live === undefined) return 'failed'
  return parts.crashes.isLooping(live) ? 'crash_loop' : undefined
}

/** So many of their numbers differ: while a version replaces another, instances of both have the same. */
export const countInstances = (running: readonly { readonly key: string }[]): number =>
  new Set(running.map(({ key }) => instanceOfKey(key))).size

/** Throws NotWanted where no version is live. */
export async function liveOf(
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

export function orNone(error: unknown): undefined {
  if (!(error instanceof NotWanted)) throw error
}

/** Resolves with false where the image of a version cannot be had, and writes down why. */
async function pullVersion(
  parts: DeployParts,
  wanted: WorkloadVersion,
  signal: AbortSignal,
): Promise<boolean> {
  return await orFailed(parts, wanted, async () => void (await pulledOf(parts, wanted, signal)))
}

/** Starts a version beside the live one, with as many instances as that has, and makes it live. */
async function tryVersion(
  parts: DeployParts,
  wanted: WorkloadVersion,
  signal: AbortSignal,
): Promise<void> {
  const { instances, crashes } = parts
  const { id, account, name, version, sleepAfterMs, scaleMax } = wanted
  const own = { id, account, name, version, sleepAfterMs }
  const running = countInstances(
    instances.running().filter((one) => one.id === id && one.isServing),
  )
  const count = Math.max(1, Math.min(running, scaleMax))
  const memoryBytes = Number(wanted.memoryBytes)
  const work = () => replaceLive(parts, { ...own, memoryBytes }, { count, signal })
  if (mountedVolumes(wanted.volumes).length === 0) await work()
  else await aloneOnceReady(parts, own, { tell: tellerOf(parts, own), signal, work })
  crashes.forget(id)
}

const tellerOf =
  ({ line }: Pick<DeployParts, 'line'>, { id, version }: Pick<WorkloadVersion, 'id' | 'version'>) =>
  (text: string): void =>
    line({
      resource: id,
      source: sourceOf({ version, instance: 1 }),
      level: 'service',
      text,
      isOwn: true,
    })

/** Resolves with false where the work shows that the version cannot be live, and writes down why. */
async function orFailed(
  parts: DeployParts,
  { id, version }: WorkloadVersion,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    const failure = failureOf(error)
    const tell = tellerOf(parts, { id, version })
    if (failure === undefined) {
      // A start says itself why it failed; a pull does not.
      if (error instanceof ErgonError && error.code === 'registry_unreachable') tell(error.message)
      throw error
    }
    tell(failure)
    await parts.state.query('select fail_version($1, $2, $3)', [id, version, failure])
    return false
  }
}

async function replaceLive(
  parts: DeployParts,
  own: Versioned & { readonly memoryBytes: number },
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

async function makeLive({ state, urlOf }: DeployParts, { id, version }: Versioned): Promise<void> {
  const { rows } = await state.query<{ made: boolean }>(
    `select make_workload_live(id, $2, $3 || host || $4) as made from workloads where id = $1`,
    [id, version, ...urlOf('*').split('*')],
  )
  if (rows[0]?.made !== true) throw new NotWanted(id)
}

/** Later requests go to the live version. Others go on for the requests that they answer. */
async function answerByLive(
  { instances, kept, replaced }: DeployParts,
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
