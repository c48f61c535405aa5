// A copy of the files of a database, by its server: awake for that long, whatever its sessions do.
import { copyFiles } from './copy-files.ts'
import type { BackupJob, WorkDeps } from './job.ts'
import { BackupFault, PassingFault } from './plan.ts'
import { openProgress } from './progress.ts'
import { reachLog, storeLog, wakeServer } from './woken-server.ts'

/** Throws a BackupFault, NotAwake, and the errors of copyFiles(). */
export async function backUp(
  deps: WorkDeps,
  { id, database }: BackupJob,
  ending: AbortSignal,
): Promise<void> {
  const { state } = deps
  await state.query('select drop_parts($1)', [id])
  await using server = await wakeServer(deps, database, ending)
  const { address, signal } = server
  try {
    // The log is stored from before the copy.
    await storeLog(deps, { database, address }, signal)
    using progress = openProgress(
      deps,
      'update database_backups set done_bytes = $2, total_bytes = $3 where id = $1',
      { id },
    )
    const from = { backup: id, address }
    const until = AbortSignal.any([signal, progress.still])
    const { timeline, begin, end, bytes } = await copyFiles(deps, from, progress.report, until)
    await reachLog(deps, database, { position: end, signal })
    const { rowCount: lost } = await state.query(
      'select from database_log_gaps where database = $1 and from_lsn < $3 and to_lsn > $2',
      [database, begin, end],
    )
    if (lost > 0) throw new PassingFault('a part of the log that it needs was lost')
    const { rowCount } = await state.query(
      `update database_backups set status = 'done', timeline = $2, begin_lsn = $3, end_lsn = $4,
         done_bytes = $5, total_bytes = $5, ended_at = ledger_now()
       where id = $1 and status = 'running'`,
      [id, timeline, begin, end, bytes],
    )
    if (rowCount === 0) throw new BackupFault('the database was deleted')
  } catch (error) {
    // The connection to a server that is being ended breaks with words of its own.
    signal.throwIfAborted()
    throw error
  }
}
