// /v1/databases/{id or name}/backups: create, list, get, delete. The process of backups makes them.
import { databaseStatusOf } from '#databases/find-database.ts'
import type { BackupRequest } from '#contract/databases.ts'
import { fault } from '#contract/errors.ts'
import { backupsOf, findBackedUp, findBackup } from '#databases/backups/find-backup.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { recordAct } from '#identity/audit.ts'
import { once } from '#http/once.ts'
import { known, type OperationCall, type Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

type Deps = { readonly state: State; readonly settings: GatewaySettings }

const databaseOf = (
  { state, settings }: Deps,
  { who, parameters }: Pick<OperationCall, 'who' | 'parameters'>,
) =>
  findBackedUp(state, {
    account: callerOf(who).account,
    wanted: parameters['database'] ?? '',
    keptMs: settings.backupsKeptMs,
  })

export const createBackupCreate =
  (deps: Deps): Handler<BackupRequest> =>
  async (call) => {
    const { state, settings } = deps
    const made = await once(call, state, async () => {
      const { id, name, wanted, actual } = await databaseOf(deps, call)
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
        const { rows } = await transaction.query<{ id: string }>(
          "select want_backup($1, 'manual') as id",
          [id],
        )
        const backup = await findBackup(transaction, id, rows[0]?.id ?? '')
        const details = { database: id }
        const act = { action: 'database-backup.create', target: backup.id, details }
        await recordAct(transaction, call, act)
        return backup
      }
    })
    return known(made, 201)
  }

export const createBackupList =
  (deps: Deps): Handler =>
  async (call) => {
    const { state } = deps
    const { id, backup_bytes: bytes, restorable_from: from } = await databaseOf(deps, call)
    return known({
      object: 'list',
      data: await backupsOf(state, id),
      has_more: false,
      next_cursor: null,
      restorable_from: from?.toISOString() ?? null,
      stored_bytes: Number(bytes),
    })
  }

export const createBackupGet =
  (deps: Deps): Handler =>
  async (call) => {
    const { state } = deps
    const { id } = await databaseOf(deps, call)
    return known(await findBackup(state, id, call.parameters['backup'] ?? ''))
  }

export const createBackupDelete =
  (deps: Deps): Handler =>
  async (call) => {
    const { state } = deps
    const { id: database } = await databaseOf(deps, call)
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
