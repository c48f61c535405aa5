// GET /v1/webhooks and /v1/webhooks/{id}, DELETE /v1/webhooks/{id}.
import { recordAct } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { changeWebhook, findWebhook, webhookReplyOf, webhooksOf } from './find-webhook.ts'

const DELETE = 'delete from webhook_endpoints where id = $1 and account = $2'

type Deps = { readonly state: State }

export const createWebhookList =
  ({ state }: Deps): Handler =>
  async ({ who }) => {
    const data = (await webhooksOf(state, who?.account ?? '')).map(webhookReplyOf)
    const reply = { object: 'list', data, has_more: false, next_cursor: null }
    return { kind: 'known', status: 200, body: () => reply }
  }

export const createWebhookGet =
  ({ state }: Deps): Handler =>
  async ({ who, parameters }) => {
    const row = await findWebhook(state, who?.account ?? '', parameters['webhook'] ?? '')
    return { kind: 'known', status: 200, body: () => webhookReplyOf(row) }
  }

export const createWebhookDelete =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { who, parameters } = call
    const account = who?.account ?? ''
    const id = parameters['webhook'] ?? ''
    await state.transaction(async (transaction) => {
      await changeWebhook(transaction, DELETE, [id, account])
      await recordAct(transaction, call, { action: 'webhook.delete', target: id })
      await transaction.query('insert into webhook_deleted values ($1, ledger_now())', [id])
      await transaction.query('delete from webhook_deliveries where endpoint = $1', [id])
      await transaction.query('select webhook_changed($1, $2)', [account, id])
    })
    return { kind: 'known', status: 200, body: () => ({ object: 'webhook', id, deleted: true }) }
  }
