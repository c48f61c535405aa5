// POST /v1/databases/{id or name}/backups: wants a backup, which gets a cell of its own.
import { askedBackedUp, type BackupDeps } from '#databases/backups/asked-backed-up.ts'
import { databaseStatusOf } from '#databases/find-database.ts'
import type { BackupRequest } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { findBackup } from '#databases/backups/find-backup.ts'
import { recordAct } from '#identity/audit.ts'
import { MANUAL_BACKUPS_MAX } from '#contract/databases/databases-max.ts'
import type { Queryable } from '#state/connect.ts'
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
        await demandFew(transaction, { id, name })
        const backup = await findBackup(transaction, id, asked)
        const details = { database: id }
        const act = { action: 'database-backup.create', target: backup.id, details }
        await recordAct(transaction, call, act)
        return backup
      }
    })
    return known(made, 201)
  }

/** Throws too_many_backups. want_backup() holds the row of the database, so two calls do not count at once. */
async function demandFew(
  transaction: Queryable,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  const { rows } = await transaction.query<{ count: number }>(
    "select count(*)::int from database_backups where database = $1 and kind = 'manual'",
    [id],
  )
  if ((rows[0]?.count ?? 0) > MANUAL_BACKUPS_MAX)
    throw fault(
      'too_many_backups',
      `Could not back up "${name}": a database has at most ${MANUAL_BACKUPS_MAX} backups by hand`,
    )
}
