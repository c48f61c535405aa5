// GET /v1/databases/{id or name}/backups/{backup}.
import { askedBackedUp, type BackupDeps } from '#databases/backups/asked-backed-up.ts'
import { findBackup } from '#databases/backups/find-backup.ts'
import { known, type Handler } from '#http/reply.ts'

export const createBackupGet =
  (deps: BackupDeps): Handler =>
  async (call) => {
    const { state } = deps
    const { id } = await askedBackedUp(deps, call)
    return known(await findBackup(state, id, call.parameters['backup'] ?? ''))
  }
