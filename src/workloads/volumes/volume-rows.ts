// The volumes that the state has, and those that the node has.
import type { Queryable } from '#state/connect.ts'
import type { WorkloadDriver, WorkloadSpec } from '#workloads/driver.ts'

type Deps = { readonly state: Queryable; readonly driver: Pick<WorkloadDriver, 'volumes'> }

/** Removes the volumes of a workload that its account has dropped. */
export async function keepVolumes({ state, driver }: Deps, workload: string): Promise<void> {
  const { rows } = await state.query<{ id: string }>(
    'select id from workload_volumes where workload = $1',
    [workload],
  )
  await driver.volumes.keep(workload, new Set(rows.map(({ id }) => id)))
}

/** Removes the volumes of workloads that are deleted. */
export async function keepVolumesOfWorkloads({ state, driver }: Deps): Promise<void> {
  const { rows } = await state.query<{ id: string }>(
    "select id from resources where kind = 'workload' and actual <> 'deleted'",
  )
  await driver.volumes.keepWorkloads(new Set(rows.map(({ id }) => id)))
}

/** Makes and grows those of a version before it starts, and tells the state that they have their sizes. */
export async function openVolumes(
  { state, driver }: Deps,
  spec: Pick<WorkloadSpec, 'id' | 'version' | 'volumes'>,
): Promise<void> {
  if (spec.volumes.length === 0) return
  await driver.volumes.open(spec)
  await state.query('select note_volume_sizes($1, $2)', [spec.id, spec.version])
}

/** Tells the state what volumes take of the disk, by which they are charged. */
export async function noteVolumeBytes({ state, driver }: Deps): Promise<void> {
  const used = await driver.volumes.used()
  if (used.size > 0)
    await state.query('select note_volume_bytes($1, $2)', [[...used.keys()], [...used.values()]])
}
