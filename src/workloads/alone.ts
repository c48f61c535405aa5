// A version with volumes starts where nothing else of its workload runs, as one instance alone mounts them. Requests wait
// meanwhile: for the new version, or for the one before where the new one does not become ready.
import type { Instances } from '#resources/instances.ts'
import type { RunningWorkload } from './driver.ts'
import type { KeptInstances } from './keep-running.ts'
import { keyOfInstance, type Versioned, type VersionedInstance } from './versioned.ts'

type AloneParts = {
  readonly instances: Pick<
    Instances<VersionedInstance, RunningWorkload>,
    'running' | 'stop' | 'without'
  >
  readonly kept: Pick<KeptInstances, 'letGo'>
  readonly replaced: (id: string) => void
}

/** Does the work by which a version starts and becomes live; ends its instance where the work fails. */
export async function alone<T>(
  { instances, kept, replaced }: AloneParts,
  version: Pick<Versioned, 'id' | 'version'>,
  { live, work }: { readonly live: number | undefined; readonly work: () => Promise<T> },
): Promise<T> {
  const { id } = version
  const own = keyOfInstance({ ...version, instance: 1 })
  const first = keyOfInstance({ id, version: live ?? 0, instance: 1 })
  const running = instances.running().flatMap((one) => (one.id === id ? [one.key] : []))
  // Requests that come from now on ask for an instance, and wait.
  replaced(id)
  for (const key of running) kept.letGo(key)
  return await instances.without(first, async () => {
    const others = running.filter((key) => key !== first)
    await Promise.all(others.map((key) => instances.stop(key, 'change')))
    return await work().catch(async (error: unknown) => {
      await instances.stop(own, 'failed')
      throw error
    })
  })
}
