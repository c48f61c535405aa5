// The files of a restored database, from its source's backups; the agent takes them over (recoveries.ts).
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createStoredReader } from '#databases/size/stored.ts'
import type { BackupJob, WorkDeps } from './job.ts'
import { lastRecord } from './last-record.ts'
import { planRestore, type WantedRestore } from './plan.ts'
import { openProgress } from './progress.ts'
import { storeWanted } from './store-wanted.ts'
import { unpackCluster, type Until } from './unpack.ts'
import { positionText } from './wire.ts'

/** Throws a BackupFault and the errors of unpackCluster(). A deletion ends it without an error. */
export async function restore(
  deps: WorkDeps,
  { id, database }: BackupJob,
  ending: AbortSignal,
): Promise<void> {
  const { state } = deps
  const { rows } = await state.query<WantedRestore>(
    `select source, source = database as "isOwn", backup, until from database_restores where database = $1`,
    [id],
  )
  const [wanted] = rows
  if (wanted === undefined) return
  const stored =
    wanted.backup === null && !wanted.isOwn
      ? await storeWanted(deps, { database, until: wanted.until }, ending)
      : undefined
  const plan = await planRestore(state, wanted)
  const until: Until = wanted.backup === null ? (wanted.until ?? 'end') : 'consistent'
  const gone = new AbortController()
  using progress = openProgress(
    deps,
    `update database_restores set done_bytes = $2, total_bytes = coalesce($3, total_bytes)
     where database = $1 and status = 'running'`,
    { id, gone: () => gone.abort() },
  )
  progress.report(0, plan.filesBytes)
  const folder = join(deps.restoredFolder, id)
  const signal = AbortSignal.any([ending, gone.signal, progress.still])
  try {
    await unpackCluster(deps, { folder, plan, until }, progress.report, signal)
  } catch (error) {
    if (gone.signal.aborted) return
    throw error
  }
  const least =
    until === 'consistent'
      ? positionText(plan.consistent)
      : (stored ?? positionText(await lastRecord(join(folder, 'data', 'pg_wal'), plan.log)))
  const { bytes, walBytes } = await createStoredReader()(join(folder, 'data'), signal)
  // The files may wait long for their server, as where the account cannot pay its recovery.
  const { rowCount } = await state.query(
    `with unpacked as (update database_restores set status = 'unpacked', least_lsn = $2
       where database = $1 and status = 'running' returning database)
     update databases set stored_bytes = $3, wal_bytes = $4 from unpacked where id = unpacked.database`,
    [id, least, bytes, walBytes],
  )
  if (rowCount === 0) await rm(folder, { recursive: true, force: true })
  else await state.query('select want_resource(id, desired) from resources where id = $1', [id])
}
