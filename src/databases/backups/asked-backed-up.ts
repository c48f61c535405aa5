// The database that a path of /v1/databases/{id or name}/backups names.
import { findBackedUp } from '#databases/backups/find-backup.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import type { OperationCall } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

export type BackupDeps = { readonly state: State; readonly settings: GatewaySettings }

/** The database whose backups a path names. Throws database_not_found. */
export const askedBackedUp = (
  { state, settings }: BackupDeps,
  { caller, parameters }: Pick<OperationCall, 'caller' | 'parameters'>,
) =>
  findBackedUp(state, {
    account: callerOf({ caller }).account,
    wanted: parameters['database'] ?? '',
    keptMs: settings.backupsKeptMs,
  })
