// POST /v1/webhooks: adds an endpoint; only this answer has the secret.
import { present } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Secret } from '#base/log.ts'
import { noType, typeOfWanted } from '#contract/webhooks/event-samples.ts'
import { fault } from '#contract/errors.ts'
import { newSigningSecret } from '#contract/webhooks/webhook-signature.ts'
import { WEBHOOKS_MAX, type WebhookRequest } from '#contract/webhooks/webhooks.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Queryable, State } from '#state/connect.ts'
import { hasSqlState } from '#state/sql-states.ts'
import type { AddressRule } from '#egress/addresses.ts'
import { sealSecret } from '#webhooks/delivery/secrets.ts'
import { maskedUrl, readTarget } from '#webhooks/delivery/target.ts'
import { findWebhook, webhookReplyOf } from '#webhooks/find-webhook.ts'
import { callerOf } from '#identity/principal.ts'

export type WebhookRules = {
  /** Seals the secrets of endpoints. */
  readonly key: Secret
  readonly rule: AddressRule
  readonly isOn: boolean
}
export type WebhookDeps = WebhookRules & { readonly state: State }

export const createWebhookCreate =
  (deps: WebhookDeps): Handler<WebhookRequest> =>
  async (call) => {
    const { caller, body } = call
    const { account } = callerOf({ caller })
    const { id, secret } = await deps.state.transaction((transaction) =>
      createWebhook(transaction, call, { request: body, ...deps }),
    )
    const row = await findWebhook(deps.state, account, id)
    const reply = { ...webhookReplyOf(row, body.url), secret }
    return { kind: 'known', status: 201, body: () => reply }
  }

/** Makes a webhook, with the entry in the audit log. Throws what the operation refuses. */
export async function createWebhook(
  transaction: Queryable,
  call: ActingCall,
  given: WebhookRules & { readonly request: WebhookRequest },
): Promise<{ readonly id: string; readonly secret: string }> {
  const { url, events, description } = given.request
  const { account } = present(call.caller, 'a webhook is asked for with a token')
  if (!given.isOn) throw fault('webhooks_off', 'Could not create the webhook')
  readTarget(url, given.rule)
  checkEvents(events)
  const secret = newSigningSecret()
  const id = newId('we')
  const sealed = sealSecret(secret, given.key, id)
  const { rows } = await transaction
    .query<{ id: string | null }>('select add_webhook($1, $2, $3, $4, $5, $6, $7) as id', [
      id,
      account,
      url,
      description,
      [...new Set(events)],
      sealed,
      WEBHOOKS_MAX,
    ])
    .catch((error: unknown) => {
      if (!hasSqlState(error, 'tooManyWebhooks')) throw error
      throw fault(
        'too_many_webhooks',
        `Could not create the webhook: an account has at most ${WEBHOOKS_MAX} webhooks`,
      )
    })
  if (rows[0]?.id !== id) throw taken(url)
  const details = maskedDetails(given.request)
  await recordAct(transaction, call, { action: 'webhook.create', target: id, details })
  return { id, secret }
}

/** Wanted values for the audit log, which more people read. */
export const maskedDetails = <B extends { readonly url?: string | undefined }>(body: B): B =>
  body.url === undefined ? body : { ...body, url: maskedUrl(body.url) }

export const taken = (url: string) =>
  fault(
    'webhook_exists',
    `Could not use the url, as another webhook has it: ${maskedUrl(url).slice(0, 100)}`,
  )

/** Throws invalid_request. */
export function checkEvents(events: readonly string[]): void {
  for (const [nth, wanted] of events.entries())
    if (typeOfWanted(wanted) === undefined)
      throw fault('invalid_request', `Could not ask for the event: ${noType(wanted)}`, {
        param: `events[${nth}]`,
      })
}
