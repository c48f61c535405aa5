// Deliveries as the API shows them.
import { fault } from '#contract/errors.ts'
import type { WebhookDelivery } from '#contract/webhooks/webhooks.ts'
import type { Queryable } from '#state/connect.ts'
import { timeText } from './find-webhook.ts'

export type DeliveryRow = {
  readonly id: string
  readonly endpoint: string
  readonly event: string
  readonly type: string
  readonly is_test: boolean
  readonly state: WebhookDelivery['status']
  readonly attempts: number
  readonly next_at: Date | null
  readonly attempted_at: Date | null
  readonly status: number | null
  readonly error: string | null
  readonly took_ms: number | null
  readonly answer: string | null
  readonly failed: WebhookDelivery['failed']
  readonly created_at: Date
}

/**
 * The columns of `webhook_endpoints e join webhook_deliveries d left join events v on v.id = d.event`. A delivery waits
 * for the end of its endpoint's rest, and for no time where the endpoint gets nothing.
 */
export const DELIVERY_COLUMNS = `d.id::text, d.endpoint, d.event, coalesce(v.type, d.sample ->> 'type') as type,
  d.sample is not null as is_test, d.state, d.attempts, case when d.state = 'pending' and e.status = 'active'
    then greatest(d.next_at, e.rest_until) end as next_at, d.attempted_at, d.status, d.error, d.took_ms,
  d.answer, d.failed, d.created_at`

export const deliveryReplyOf = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  object: 'webhook.delivery',
  webhook: row.endpoint,
  event: row.type,
  event_id: row.event,
  test: row.is_test,
  status: row.state,
  attempts: row.attempts,
  next_attempt_at: timeText(row.next_at),
  attempted_at: timeText(row.attempted_at),
  http_status: row.status,
  error: row.error,
  duration_ms: row.took_ms,
  answer: row.answer,
  failed: row.failed.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
  created_at: row.created_at.toISOString(),
})

/** Throws event_not_found. */
export async function deliveryOf(
  state: Queryable,
  endpoint: string,
  event: string,
): Promise<WebhookDelivery> {
  const { rows } = await state.query<DeliveryRow>(
    `select ${DELIVERY_COLUMNS} from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint
       left join events v on v.id = d.event
     where d.endpoint = $1 and d.event = $2`,
    [endpoint, event],
  )
  const [row] = rows
  if (row !== undefined) return deliveryReplyOf(row)
  throw fault('event_not_found', `Could not find the event: "${event.slice(0, 100)}"`)
}
