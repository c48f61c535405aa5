// A version with volumes starts where nothing else of its workload runs, as one instance alone mounts them. The version
// before answers until the new one has its image, its room and its turn. From that end on requests wait: for the new
// version, or for the one before where the new one does not become ready.
import { NotWanted, type Instances } from '#resources/instances.ts'
import { readVersions } from '#resources/versions.ts'
import type { RunningWorkload, VolumesWait, WorkloadSpec } from './driver.ts'
import type { KeptInstances } from './keep-running.ts'
import { pulledOf, type PulledDeps } from './pulled.ts'
import { readWorkloadVersion, workloadSpecOf } from './read-version.ts'
import { untilRoom, type ReplaceParts } from './replace.ts'
import { untilLate } from './start-limit.ts'
import { keyOfInstance, type Versioned, type VersionedInstance } from './versioned.ts'
import { noteWaits, openVolumes } from './volumes/volume-rows.ts'

type ReadyParts = AloneParts & ReplaceParts & PulledDeps & { readonly environmentKey: string }

type AloneParts = {
  readonly instances: Pick<
    Instances<VersionedInstance, RunningWorkload>,
    'running' | 'stop' | 'without'
  >
  readonly kept: Pick<KeptInstances, 'letGo'>
  readonly replaced: (id: string) => void
  readonly endStarts: (id: string) => void
}

/**
 * As `alone`, once the version is known to fit its image, has room and its new volumes, and waits for nothing that others
 * hold. The work begins with volumes that are open. Throws NotWanted where another version is wanted by then.
 */
export async function aloneOnceReady<T>(
  parts: ReadyParts,
  { id, version }: Pick<Versioned, 'id' | 'version'>,
  given: {
    readonly signal: AbortSignal
    readonly tell: (text: string) => void
    readonly work: () => Promise<T>
  },
): Promise<T> {
  const { state, driver, readyMs } = parts
  const { signal, tell, work } = given
  // Its image was pulled since the version was read.
  const row = await readWorkloadVersion(state, id, version)
  const pulled = await pulledOf(parts, row, signal)
  const spec = workloadSpecOf(row, { ...pulled, instance: 1 }, parts.environmentKey)
  driver.assertFit(spec)
  await untilRoom(parts, { ...row, ...spec }, given)
  const late = AbortSignal.timeout(readyMs)
  using ready = await untilLate({ late, readyMs, signal, tell }, (wait) =>
    noteWaits(parts, { id, wait }, async (noted) => {
      await makeNew(parts, spec, noted)
      return await driver.volumes.prepare(spec, noted)
    }),
  )
  const now = await readVersions(state, id)
  if (now?.wanted !== version) throw new NotWanted(`Another version is wanted: ${id}`)
  signal.throwIfAborted()
  return await alone(parts, spec, {
    live: now.live,
    async work() {
      await openVolumes(parts, spec, () => ready.open(signal))
      ready[Symbol.dispose]()
      return await work()
    },
  })
}

/** Nothing mounts those that are not there. */
async function makeNew(
  { state, driver }: Pick<ReadyParts, 'state' | 'driver'>,
  spec: Pick<WorkloadSpec, 'id' | 'version' | 'volumes'>,
  wait: VolumesWait,
): Promise<void> {
  const lacking = await driver.volumes.lacking(spec)
  const volumes = spec.volumes.filter(({ id }) => lacking.get(id) === 0)
  await openVolumes({ state, driver }, { ...spec, volumes }, (made) =>
    driver.volumes.open(made, wait),
  )
}

/** Does the work by which a version starts and becomes live; ends its instance where the work fails. */
export async function alone<T>(
  { instances, kept, replaced, endStarts }: AloneParts,
  version: Pick<Versioned, 'id' | 'version'>,
  { live, work }: { readonly live: number | null; readonly work: () => Promise<T> },
): Promise<T> {
  const { id } = version
  const own = keyOfInstance({ ...version, instance: 1 })
  const first = keyOfInstance({ id, version: live ?? 0, instance: 1 })
  const running = instances.running().flatMap((one) => (one.id === id ? [one.key] : []))
  // Requests that come from now on ask for an instance, and wait.
  replaced(id)
  for (const key of running) kept.letGo(key)
  // One may wait for the volumes, which this version has.
  endStarts(id)
  return await instances.without(first, async () => {
    const others = running.filter((key) => key !== first)
    await Promise.all(others.map((key) => instances.stop(key, 'change')))
    return await work().catch(async (error: unknown) => {
      await instances.stop(own, 'failed')
      throw error
    })
  })
}
