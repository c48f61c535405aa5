// PATCH /v1/webhooks/{id}: another url, other events, pause and resume.
import type { WebhookChange } from '#contract/webhooks.ts'
import { recordAct } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import { readTarget } from '#webhooks/delivery/target.ts'
import { changeWebhook, findWebhook, webhookReplyOf } from './find-webhook.ts'
import { checkEvents, maskedDetails, taken, type WebhookDeps } from './webhook-create.ts'
import { callerOf } from '#identity/principal.ts'
import { isUniqueViolation } from '#state/connect.ts'

// An endpoint that is resumed, or has another url, begins anew.
const UPDATE = `update webhook_endpoints set url = coalesce($3, url), events = coalesce($4, events),
    description = coalesce($5, description), status = coalesce($6, status),
    reason = case when $6 is null then reason end,
    failures = case when $6 = 'active' or $3 is not null then 0 else failures end,
    failing_since = case when $6 = 'active' or $3 is not null then null else failing_since end,
    rest_until = case when $6 = 'active' or $3 is not null then null else rest_until end
  where id = $1 and account = $2`

export const createWebhookUpdate =
  ({ state, rule }: WebhookDeps): Handler<WebhookChange> =>
  async (call) => {
    const { who, parameters, body } = call
    const { account } = callerOf(who)
    const { url, events, description, paused } = body
    const id = parameters['webhook'] ?? ''
    if (url !== undefined) readTarget(url, rule)
    if (events !== undefined) checkEvents(events)
    const status = paused === undefined ? null : paused ? 'paused' : 'active'
    await state
      .transaction(async (transaction) => {
        await changeWebhook(transaction, UPDATE, [
          id,
          account,
          url ?? null,
          events === undefined ? null : [...new Set(events)],
          description ?? null,
          status,
        ])
        const details = maskedDetails(body)
        await recordAct(transaction, call, { action: 'webhook.update', target: id, details })
        await transaction.query('select webhook_changed($1, $2)', [account, id])
      })
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? taken(url ?? '') : error
      })
    const reply = webhookReplyOf(await findWebhook(state, account, id))
    return { kind: 'known', status: 200, body: () => reply }
  }
