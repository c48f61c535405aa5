// PUT /v1/webhooks/{id}/secret: another secret, beside which the old one signs for a day, and each earlier one until its own
// end.
import { newSigningSecret } from '#contract/webhooks/webhook-signature.ts'
import { recordAct } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import { sealSecret } from '#webhooks/delivery/secrets.ts'
import { changeWebhook, findWebhook, webhookReplyOf } from '#webhooks/find-webhook.ts'
import type { WebhookDeps } from './webhook-create.ts'
import { callerOf } from '#identity/principal.ts'

/** Each makes the header of a delivery longer by 116 bytes; the oldest ends where there are more. */
export const OLD_SECRETS_MAX = 9

const ROTATE = `update webhook_endpoints set secret = $3, old_secrets = jsonb_path_query_array(
    jsonb_build_object('secret', secret, 'until', ledger_now() + interval '24 hours') || old_secrets,
    '$[0 to ${OLD_SECRETS_MAX - 1}]')
  where id = $1 and account = $2`

export const createWebhookRotate =
  ({ state, key }: WebhookDeps): Handler =>
  async (call) => {
    const { caller, parameters } = call
    const { account } = callerOf({ caller })
    const id = parameters['webhook'] ?? ''
    const signing = newSigningSecret()
    await state.transaction(async (transaction) => {
      await changeWebhook(transaction, ROTATE, [id, account, sealSecret(signing, key, id)])
      await recordAct(transaction, call, { action: 'webhook.rotate', target: id })
      await transaction.query('select webhook_changed($1, $2)', [account, id])
    })
    const reply = { ...webhookReplyOf(await findWebhook(state, account, id)), secret: signing }
    return { kind: 'known', status: 200, body: () => reply }
  }
