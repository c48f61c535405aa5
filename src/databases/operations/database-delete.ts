// DELETE /v1/databases/{id or name}: nobody can connect any more; the agent's reconciler removes the files. The backups
// and the log stay for some days.
import { findBackedUp } from '#databases/backups/find-backup.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { deleteResource } from '#resources/delete-resource.ts'
import type { State } from '#state/connect.ts'

export const createDatabaseDelete =
  ({ state, settings }: { readonly state: State; readonly settings: GatewaySettings }): Handler =>
  async (call) => {
    const { id, account } = await askedResource(SHOWN_DATABASES, state, call)
    const { restorable_from: from } = await findBackedUp(state, {
      account,
      wanted: id,
      keptMs: settings.backupsKeptMs,
    })
    await state.transaction((transaction) =>
      deleteResource(transaction, call, { kind: 'database', id }),
    )
    const until = new Date(Date.now() + settings.backupsKeptMs).toISOString()
    const reply = {
      id,
      object: 'database',
      deleted: true,
      restorable_until: from === null ? null : until,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }
