// The volumes that the state has, and those that the node has.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { VOLUMES_WAIT } from '#contract/resources/passing-reasons.ts'
import { NotWanted } from '#resources/instances.ts'
import type { Queryable } from '#state/connect.ts'
import type {
  VolumesOf,
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
 * version that is neither wanted nor live, and as `open`.
 */
export async function openVolumes(
  { state, driver }: Deps,
  { id, version, volumes: named }: Pick<WorkloadSpec, 'id' | 'version' | 'volumes'>,
  open: (spec: VolumesOf) => Promise<unknown>,
): Promise<readonly WorkloadVolume[]> {
  if (named.length === 0) return named
  const { rows } = await state.query<{ held: readonly HeldVolume[] | null }>(
    'select hold_volume_sizes($1, $2, $3) as held',
    [id, version, named.map((one) => one.id)],
  )
  const held = rows[0]?.held ?? undefined
  if (held === undefined) throw new NotWanted(`Another version has its volumes: ${id}`)
  // Another growth may have failed or ended since the version was read.
  const bytesOf = new Map(held.map((one) => [one.id, one.bytes]))
  const volumes = named.map((one) => ({ ...one, bytes: bytesOf.get(one.id) ?? one.bytes }))
  try {
    await open({ id, volumes })
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

/** Does work that may wait for others: a wait is the reason of the workload while that lasts and a change is under way. */
export async function noteWaits<T>(
  { state, log }: { readonly state: Queryable; readonly log: Logger },
  { id, wait }: { readonly id: string; readonly wait: VolumesWait },
  work: (wait: VolumesWait) => Promise<T>,
): Promise<T> {
  let noted = Promise.resolve()
  const note = (what: string | null) => {
    noted = noted.then(async () => {
      await state
        .query(NOTE_WAIT, [id, what, Object.values(VOLUMES_WAIT)])
        .catch((error: unknown) => log.debug('A wait is not told', { error: messageOf(error) }))
    })
  }
  const waits = (what: string | null) => {
    wait.waits(what)
    note(what)
  }
  try {
    const result = await work({ ...wait, waits })
    // Also what an earlier try has told.
    note(null)
    return result
  } finally {
    await noted
  }
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
