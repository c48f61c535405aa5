// DELETE /v1/databases/{id or name}: nobody can connect any more; the agent's reconciler removes the files. The backups
// and the log stay for some days. A repetition changes nothing, and has the same answer while the backups are there.
import { findBackedUp } from '#databases/backups/find-backup.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import { deleteResource } from '#resources/delete-resource.ts'
import type { State } from '#state/connect.ts'

export const createDatabaseDelete =
  ({ state, settings }: { readonly state: State; readonly settings: GatewaySettings }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    const wanted = call.parameters['database'] ?? ''
    const { backupsKeptMs: keptMs } = settings
    const found = await findBackedUp(state, { account, wanted, keptMs })
    const { id, restorable_from: from, removed_at: removedAt } = found
    if (found.wanted !== 'deleted')
      await state.transaction((transaction) =>
        deleteResource(transaction, call, { kind: 'database', id }),
      )
    const untilMs = (removedAt?.getTime() ?? Date.now()) + keptMs
    return known({
      id,
      object: 'database',
      deleted: true,
      restorable_until: from === null ? null : new Date(untilMs).toISOString(),
    })
  }
