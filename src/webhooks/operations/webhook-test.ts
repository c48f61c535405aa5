// POST /v1/webhooks/{id}/test: a synthetic event, which only this endpoint gets.
import { newId } from '#base/ids.ts'
import { noType, sampleOf, typeOfWanted } from '#contract/webhooks/event-samples.ts'
import { fault } from '#contract/errors.ts'
import type { WebhookTest } from '#contract/webhooks/webhooks.ts'
import { recordAct } from '#identity/audit.ts'
import { once } from '#http/once.ts'
import type { Handler } from '#http/reply.ts'
import { deliveryOf } from '#webhooks/find-delivery.ts'
import { findWebhook } from '#webhooks/find-webhook.ts'
import type { WebhookDeps } from './webhook-create.ts'
import { callerOf } from '#identity/principal.ts'

export const createWebhookTest =
  ({ state, isOn }: WebhookDeps): Handler<WebhookTest> =>
  async (call) => {
    const { caller, parameters, body } = call
    const { account, env } = callerOf({ caller })
    const reply = await once(call, state, async () => {
      const { id, status } = await findWebhook(state, account, parameters['webhook'] ?? '')
      if (!isOn) throw fault('webhooks_off', 'Could not send the test')
      const type = typeOfWanted(body.event)
      const sample = type === undefined ? undefined : sampleOf(type)
      if (sample === undefined)
        throw fault('invalid_request', `Could not send the test: ${noType(body.event)}`, {
          param: 'event',
        })
      if (status !== 'active')
        throw fault('webhook_not_active', `Could not send the test: the webhook is ${status}`)
      const event = newId('evt')
      const unit = env === 'test' ? 'tUSD' : 'USD'
      const ofAccount = { ...('unit' in sample && { unit }), account_id: account }
      // No event of the account has the sequence 0.
      const data = { ...sample, ...ofAccount, sequence: 0, test: true }
      const row = [id, event, type, JSON.stringify(data)]
      return async (transaction) => {
        await recordAct(transaction, call, {
          action: 'webhook.test',
          target: id,
          details: { event },
        })
        await transaction.query('select webhook_send_sample($1, $2, $3, $4)', row)
        return await deliveryOf(transaction, id, event)
      }
    })
    return { kind: 'known', status: 202, body: () => reply }
  }
