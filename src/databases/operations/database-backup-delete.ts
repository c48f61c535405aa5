// DELETE /v1/databases/{id or name}/backups/{backup}: a backup that no time of the retention needs.
import { askedBackedUp, type BackupDeps } from '#databases/backups/asked-backed-up.ts'
import { fault } from '#contract/errors.ts'
import { findBackup } from '#databases/backups/find-backup.ts'
import { recordAct } from '#identity/audit.ts'
import { known, type Handler } from '#http/reply.ts'

export const createBackupDelete =
  (deps: BackupDeps): Handler =>
  async (call) => {
    const { state } = deps
    const { id: database } = await askedBackedUp(deps, call)
    const { id, status, kind } = await findBackup(state, database, call.parameters['backup'] ?? '')
    if (status === 'running')
      throw fault('backup_not_deletable', `Could not delete the backup "${id}": it is being made`)
    if (kind === 'nightly' && status === 'done')
      throw fault(
        'backup_not_deletable',
        `Could not delete the backup "${id}": the times of the retention need it`,
      )
    await state.transaction(async (transaction) => {
      const act = { action: 'database-backup.delete', target: id, details: { database } }
      await recordAct(transaction, call, act)
      await transaction.query('select drop_backup($1)', [id])
    })
    return known({ id, object: 'database.backup', deleted: true })
  }
