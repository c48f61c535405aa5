// DELETE /v1/webhooks/{id}.
import { present } from '#base/errors.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable, State } from '#state/connect.ts'
import { changeWebhook } from '#webhooks/find-webhook.ts'

const DELETE = 'delete from webhook_endpoints where id = $1 and account = $2'

export const createWebhookDelete =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const id = call.parameters['webhook'] ?? ''
    await state.transaction((transaction) => deleteWebhook(transaction, call, id))
    return { kind: 'known', status: 200, body: () => ({ object: 'webhook', id, deleted: true }) }
  }

/** Deletes a webhook, with the entry in the audit log. Throws webhook_not_found. */
export async function deleteWebhook(
  transaction: Queryable,
  call: ActingCall,
  id: string,
): Promise<void> {
  const { account } = present(call.caller, 'a deletion is asked for with a token')
  await changeWebhook(transaction, DELETE, [id, account])
  await recordAct(transaction, call, { action: 'webhook.delete', target: id })
  // Its deliveries, of which there may be many, go with the upkeep.
  await transaction.query('insert into webhook_deleted values ($1, ledger_now())', [id])
  await transaction.query('select webhook_changed($1, $2)', [account, id])
}
