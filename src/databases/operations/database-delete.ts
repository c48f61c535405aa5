// DELETE /v1/databases/{id or name}: nobody can connect any more; the agent's reconciler removes the files. The backups
// and the log stay for some days.
import { findBackedUp } from '#databases/operations/find-backup.ts'
import { findDatabase } from '#databases/operations/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable, State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

export const createDatabaseDelete =
  ({ state, settings }: { readonly state: State; readonly settings: GatewaySettings }): Handler =>
  async (call) => {
    const { who, parameters } = call
    const { account } = callerOf(who)
    const { id } = await findDatabase(state, account, parameters['database'] ?? '')
    const { restorable_from: from } = await findBackedUp(state, {
      account,
      wanted: id,
      keptMs: settings.backupsKeptMs,
    })
    await state.transaction((transaction) => deleteDatabase(transaction, call, id))
    const until = new Date(Date.now() + settings.backupsKeptMs).toISOString()
    const reply = {
      id,
      object: 'database',
      deleted: true,
      restorable_until: from === null ? null : until,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }

/** With its entry in the audit log. */
export async function deleteDatabase(
  transaction: Queryable,
  asker: Asker,
  id: string,
): Promise<void> {
  await recordAct(transaction, asker, { action: 'database.delete', target: id })
  await transaction.query('select delete_database($1)', [id])
}
