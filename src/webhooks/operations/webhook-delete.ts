// DELETE /v1/webhooks/{id}.
import { recordAct } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { changeWebhook } from './find-webhook.ts'
import { callerOf } from '#identity/principal.ts'

const DELETE = 'delete from webhook_endpoints where id = $1 and account = $2'

export const createWebhookDelete =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { who, parameters } = call
    const { account } = callerOf(who)
    const id = parameters['webhook'] ?? ''
    await state.transaction(async (transaction) => {
      await changeWebhook(transaction, DELETE, [id, account])
      await recordAct(transaction, call, { action: 'webhook.delete', target: id })
      // Its deliveries, of which there may be many, go with the upkeep.
      await transaction.query('insert into webhook_deleted values ($1, ledger_now())', [id])
      await transaction.query('select webhook_changed($1, $2)', [account, id])
    })
    return { kind: 'known', status: 200, body: () => ({ object: 'webhook', id, deleted: true }) }
  }
