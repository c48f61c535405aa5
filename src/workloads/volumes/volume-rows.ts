// The volumes that the state has, and those that the node has.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { VOLUMES_WAIT } from '#contract/resources/passing-reasons.ts'
import { NotWanted } from '#resources/instances.ts'
import type { Queryable } from '#state/connect.ts'
import type {
  VolumesWait,
  WorkloadDriver,
  WorkloadSpec,
  WorkloadVolume,
} from '#workloads/driver.ts'
import { wholeBlocks } from './volume-images.ts'

type Deps = { readonly state: Queryable; readonly driver: Pick<WorkloadDriver, 'volumes'> }

/** The reason of a workload that is being changed; null takes a wait away. */
const NOTE_WAIT = `update resources set reason = $2
  where id = $1 and wanted = 'deployed' and (actual <> wanted or reached_revision < revision)
    and (reason is null or reason = any ($3)) and reason is distinct from $2`

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

type HeldVolume = { readonly id: string; readonly before: number; readonly bytes: number }

/**
 * Makes and grows those of a version before it starts. Their sizes are of the account's quota before a file is touched, and
 * those of files that could not be made or grown are given back. Returns the volumes as they are now. Throws NotWanted for a
 * version that is neither wanted nor live, and as `driver.volumes.open`. A wait is the reason of the workload while a change is
 * under way.
 */
export async function openVolumes(
  { state, driver, log }: Deps & { readonly log: Logger },
  { id, version, volumes: named }: Pick<WorkloadSpec, 'id' | 'version' | 'volumes'>,
  wait: VolumesWait,
): Promise<readonly WorkloadVolume[]> {
  if (named.length === 0) return named
  const { rows } = await state.query<{ held: readonly HeldVolume[] | null }>(
    'select hold_volume_sizes($1, $2) as held',
    [id, version],
  )
  const held = rows[0]?.held ?? undefined
  if (held === undefined) throw new NotWanted(`Another version has its volumes: ${id}`)
  // Another growth may have failed or ended since the version was read.
  const bytesOf = new Map(held.map((one) => [one.id, one.bytes]))
  const volumes = named.map((one) => ({ ...one, bytes: bytesOf.get(one.id) ?? one.bytes }))
  let noted = Promise.resolve()
  const note = async (what: string | null) => {
    await state
      .query(NOTE_WAIT, [id, what, Object.values(VOLUMES_WAIT)])
      .catch((error: unknown) => log.debug('A wait is not told', { error: messageOf(error) }))
  }
  const waits = (what: string) => {
    wait.waits(what)
    noted = note(what)
  }
  try {
    await driver.volumes.open({ id, volumes }, { ...wait, waits })
    // Also what an earlier try has told.
    await noted
    await note(null)
  } catch (error) {
    const lacking = await driver.volumes.lacking({ id, volumes })
    const unmade = held.flatMap((one) => {
      const has = lacking.get(one.id)
      return has === undefined ? [] : [{ ...one, has: sizeOf(has, one) }]
    })
    const given = [JSON.stringify(unmade), 'bytes', 'has']
    await state.query('select set_volume_sizes($1, $2, $3)', given)
    throw error
  }
  return volumes
}

/**
 * The size is that of the file. A size that was noted before belongs to a growth that a kill of the node cut off. A
 * file is of whole blocks, and a size that was asked for need not be.
 */
const sizeOf = (has: number, { before }: HeldVolume): number =>
  has === wholeBlocks(before) ? before : has

/** Tells the state what volumes take of the disk, by which they are charged. */
export async function noteVolumeBytes({ state, driver }: Deps): Promise<void> {
  const used = await driver.volumes.used()
  if (used.size > 0)
    await state.query('select note_volume_bytes($1, $2)', [[...used.keys()], [...used.values()]])
}
