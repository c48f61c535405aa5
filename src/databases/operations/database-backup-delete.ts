// DELETE /v1/databases/{id or name}/backups/{backup}: a backup by hand, or one that failed. One that the times of the
// retention need ends with them.
import { askedBackedUp, type BackupDeps } from '#databases/backups/asked-backed-up.ts'
import { fault } from '#contract/errors.ts'
import { findBackup, holdBackups } from '#databases/backups/find-backup.ts'
import type { Queryable } from '#state/connect.ts'
import { recordAct } from '#identity/audit.ts'
import { known, type Handler } from '#http/reply.ts'

export const createBackupDelete =
  (deps: BackupDeps): Handler =>
  async (call) => {
    const { state, settings } = deps
    const { id: database } = await askedBackedUp(deps, call)
    const reply = await state.transaction(async (transaction) => {
      await holdBackups(transaction, database)
      const wanted = call.parameters['backup'] ?? ''
      const { id, status, kind } = await findBackup(transaction, database, wanted)
      if (status === 'running')
        throw fault('backup_not_deletable', `Could not delete the backup "${id}": it is being made`)
      if (kind === 'nightly' && status === 'done')
        throw fault(
          'backup_not_deletable',
          `Could not delete the backup "${id}": the times of the retention need it`,
        )
      if (status === 'done') await demandUnneeded(transaction, { id, database })
      const act = { action: 'database-backup.delete', target: id, details: { database } }
      await recordAct(transaction, call, act)
      const { rows } = await transaction.query<{ is_gone: boolean }>(
        'select delete_backup($1, $2) as is_gone',
        [id, settings.backupsKeptMs],
      )
      return { id, object: 'database.backup', deleted: rows[0]?.is_gone === true }
    })
    return known(reply)
  }

/** Throws backup_not_deletable while a restore that is accepted may need the backup. */
async function demandUnneeded(
  state: Queryable,
  { id, database }: { readonly id: string; readonly database: string },
): Promise<void> {
  const { rows } = await state.query<{ isNeeded: boolean }>(
    'select awaits_restore($1) as "isNeeded"',
    [database],
  )
  if (rows[0]?.isNeeded === true)
    throw fault(
      'backup_not_deletable',
      `Could not delete the backup "${id}": a restore or clone of its database is under way, and may need the backup`,
    )
}
