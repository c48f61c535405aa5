// POST /v1/databases/{id or name}/backups: wants a backup, which gets a cell of its own.
import { askedBackedUp, type BackupDeps } from '#databases/backups/asked-backed-up.ts'
import { databaseStatusOf } from '#databases/find-database.ts'
import type { BackupRequest } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { findBackup } from '#databases/backups/find-backup.ts'
import { recordAct } from '#identity/audit.ts'
import { once } from '#http/once.ts'
import { known, type Handler } from '#http/reply.ts'

export const createBackupCreate =
  (deps: BackupDeps): Handler<BackupRequest> =>
  async (call) => {
    const { state, settings } = deps
    const made = await once(call, state, async () => {
      const { id, name, wanted, actual } = await askedBackedUp(deps, call)
      if (!settings.isOn) throw fault('databases_off', `Could not back up "${name}"`)
      if (wanted === 'deleted')
        throw fault('database_not_found', `Could not back up "${name}": it is deleted`)
      if (wanted === 'suspended')
        throw fault('database_suspended', `Could not back up "${name}": it is suspended`)
      if (wanted !== 'deployed' || actual !== 'deployed')
        throw fault(
          'database_not_ready',
          `Could not back up "${name}": it is ${databaseStatusOf({ actual })}`,
        )
      return async (transaction) => {
        const { rows } = await transaction.query<{ id: string | null }>(
          "select want_backup($1, 'manual') as id",
          [id],
        )
        const asked = rows[0]?.id
        if (typeof asked !== 'string')
          throw fault('database_not_found', `Could not back up "${name}": it is deleted`)
        const backup = await findBackup(transaction, id, asked)
        const details = { database: id }
        const act = { action: 'database-backup.create', target: backup.id, details }
        await recordAct(transaction, call, act)
        return backup
      }
    })
    return known(made, 201)
  }
