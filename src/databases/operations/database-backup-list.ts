// GET /v1/databases/{id or name}/backups.
import { askedBackedUp, type BackupDeps } from '#databases/backups/asked-backed-up.ts'
import { backupsOf } from '#databases/backups/find-backup.ts'
import { known, type Handler } from '#http/reply.ts'

export const createBackupList =
  (deps: BackupDeps): Handler =>
  async (call) => {
    const { state } = deps
    const found = await askedBackedUp(deps, call)
    const { id, backup_bytes: bytes, restorable_from: from, restorable } = found
    return known({
      object: 'list',
      data: await backupsOf(state, id),
      has_more: false,
      next_cursor: null,
      restorable_from: from?.toISOString() ?? null,
      log_lost_from: found.log_lost_from?.toISOString() ?? null,
      restorable,
      stored_bytes: Number(bytes),
    })
  }
