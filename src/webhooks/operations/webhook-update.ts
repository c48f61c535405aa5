// PATCH /v1/webhooks/{id}: another url, other events, pause and resume.
import { present } from '#base/errors.ts'
import type { WebhookChange } from '#contract/webhooks/webhooks.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import { readTarget } from '#webhooks/delivery/target.ts'
import { changeWebhook, findWebhook, webhookReplyOf } from '#webhooks/find-webhook.ts'
import {
  checkEvents,
  maskedDetails,
  taken,
  type WebhookDeps,
  type WebhookRules,
} from './webhook-create.ts'
import { callerOf } from '#identity/principal.ts'
import { isUniqueViolation, type Queryable } from '#state/connect.ts'

// An endpoint that is resumed, or has another url, begins anew, with the deliveries that wait for their next attempt.
const BEGIN_ANEW = 'select webhook_begin_anew($1, $2)'
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
    const { caller, parameters, body } = call
    const { account } = callerOf({ caller })
    const id = parameters['webhook'] ?? ''
    await state.transaction((transaction) =>
      updateWebhook(transaction, call, { id, change: body, rule }),
    )
    const reply = webhookReplyOf(await findWebhook(state, account, id))
    return { kind: 'known', status: 200, body: () => reply }
  }

/** Changes a webhook, with the entry in the audit log. Throws what the operation refuses. */
export async function updateWebhook(
  transaction: Queryable,
  call: ActingCall,
  given: Pick<WebhookRules, 'rule'> & { readonly id: string; readonly change: WebhookChange },
): Promise<void> {
  const { id, change } = given
  const { url, events, description, paused } = change
  const { account } = present(call.caller, 'a change is asked for with a token')
  if (url !== undefined) readTarget(url, given.rule)
  if (events !== undefined) checkEvents(events)
  const status = paused === undefined ? null : paused ? 'paused' : 'active'
  if (url !== undefined || paused === false) await transaction.query(BEGIN_ANEW, [id, account])
  await changeWebhook(transaction, UPDATE, [
    id,
    account,
    url ?? null,
    events === undefined ? null : [...new Set(events)],
    description ?? null,
    status,
  ]).catch((error: unknown) => {
    throw isUniqueViolation(error) ? taken(url ?? '') : error
  })
  const details = maskedDetails(change)
  await recordAct(transaction, call, { action: 'webhook.update', target: id, details })
  await transaction.query('select webhook_changed($1, $2)', [account, id])
}
