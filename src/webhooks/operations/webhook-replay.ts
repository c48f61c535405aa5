// POST /v1/webhooks/{id}/replay: one event again, or those of a time that did not arrive. Receivers know an event that
// they have by its id, which stays.
import { fault } from '#contract/errors.ts'
import { WEBHOOK_REPLAY_MAX, type WebhookReplay } from '#contract/webhooks/webhooks.ts'
import { recordAct } from '#identity/audit.ts'
import { once } from '#http/once.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findWebhook } from '#webhooks/find-webhook.ts'
import { callerOf } from '#identity/principal.ts'

type KnownEvent = { readonly id: string; readonly occurred_at: Date }

export const createWebhookReplay =
  ({ state }: { readonly state: State }): Handler<WebhookReplay> =>
  async (call) => {
    const { caller, parameters, body } = call
    const { account } = callerOf({ caller })
    const reply = await once(call, state, async () => {
      const { id } = await findWebhook(state, account, parameters['webhook'] ?? '')
      const found =
        body.event_id === undefined
          ? await eventsOfTime(state, { account, id }, body)
          : await oneEvent(state, { account, id }, body.event_id)
      const events = found.slice(0, WEBHOOK_REPLAY_MAX)
      const next = found[WEBHOOK_REPLAY_MAX]
      return async (transaction) => {
        await recordAct(transaction, call, { action: 'webhook.replay', target: id, details: body })
        const { rows } = await transaction.query<{ deliveries: number }>(
          'select webhook_replay($1, $2) as deliveries',
          [id, events.map((event) => event.id)],
        )
        return {
          object: 'webhook.replay',
          deliveries: rows[0]?.deliveries ?? 0,
          has_more: next !== undefined,
          next_from: next?.occurred_at.toISOString() ?? null,
        }
      }
    })
    return { kind: 'known', status: 200, body: () => reply }
  }

type EndpointKey = { readonly account: string; readonly id: string }

/** The events of a time that the endpoint asks for, one more than a replay takes. */
async function eventsOfTime(
  state: Queryable,
  { account, id }: EndpointKey,
  { from, to, delivered }: WebhookReplay,
): Promise<KnownEvent[]> {
  const { rows } = await state.query<KnownEvent>(
    `select v.id, v.occurred_at from webhook_endpoints e join events v on v.account = e.account
       left join webhook_deliveries d on d.event = v.id and d.endpoint = e.id
     where e.id = $2 and v.account = $1 and webhook_wants(e.events, v.type, v.data)
       and v.occurred_at >= $3 and v.occurred_at < $4 and ($5 or d.state is distinct from 'delivered')
     order by v.occurred_at, v.sequence limit ${WEBHOOK_REPLAY_MAX + 1}`,
    [account, id, from ?? '-infinity', to ?? 'infinity', delivered],
  )
  return rows
}

/** Throws event_not_found. */
async function oneEvent(
  state: Queryable,
  { account, id }: EndpointKey,
  event: string,
): Promise<KnownEvent[]> {
  const { rows } = await state.query<KnownEvent>(
    `select id, occurred_at from events where id = $2 and account = $1
     union all
     select event, created_at from webhook_deliveries where event = $2 and endpoint = $3 and sample is not null`,
    [account, event, id],
  )
  if (rows.length === 0)
    throw fault('event_not_found', `Could not find the event: "${event.slice(0, 100)}"`)
  return rows
}
