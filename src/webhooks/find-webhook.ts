// Endpoints of an account as the API shows them.
import { fault } from '#contract/errors.ts'
import type { WebhookReply } from '#contract/webhooks/webhooks.ts'
import type { Queryable } from '#state/connect.ts'
import { maskedUrl } from './delivery/target.ts'

export type WebhookRow = {
  readonly id: string
  readonly url: string
  readonly events: string[]
  readonly description: string
  readonly status: WebhookReply['status']
  readonly reason: string | null
  readonly pending: number
  readonly failures: number
  readonly succeeded_at: Date | null
  readonly failed_at: Date | null
  readonly last_error: string | null
  readonly previous_until: Date | null
  readonly created_at: Date
}

const PENDING_SHOWN_MAX = 10_000

/** The endpoints of an account, or the one that has this id. */
export async function webhooksOf(
  state: Queryable,
  account: string,
  id: string | null = null,
): Promise<WebhookRow[]> {
  const { rows } = await state.query<WebhookRow>(
    `select e.id, e.url, e.events, e.description, e.status, e.reason, e.failures, e.succeeded_at, e.failed_at,
       e.last_error, case when o.until > now() then o.until end as previous_until, e.created_at,
       (select count(*)::int from (select from webhook_deliveries d where d.endpoint = e.id and d.state = 'pending'
         limit ${PENDING_SHOWN_MAX}) waiting) as pending
     from webhook_endpoints e
       cross join lateral (select (e.old_secrets -> 0 ->> 'until')::timestamptz as until) o
     where e.account = $1 and ($2::text is null or e.id = $2) order by e.id`,
    [account, id],
  )
  return rows
}

/** Throws webhook_not_found. */
export async function findWebhook(
  state: Queryable,
  account: string,
  id: string,
): Promise<WebhookRow> {
  const [row] = await webhooksOf(state, account, id)
  if (row === undefined) throw notFound(id)
  return row
}

/** Runs a statement that changes one webhook of an account: its `$1` and `$2`. Throws webhook_not_found. */
export async function changeWebhook(
  transaction: Queryable,
  sql: string,
  [id, ...values]: readonly [id: string, account: string, ...unknown[]],
): Promise<void> {
  const { rowCount } = await transaction.query(sql, [id, ...values])
  if (rowCount === 0) throw notFound(id)
}

const notFound = (id: string) =>
  fault('webhook_not_found', `Could not find the webhook: "${id.slice(0, 100)}"`)

/** With the values of the url's query masked, unless the whole `url` is given. */
export const webhookReplyOf = (row: WebhookRow, url = maskedUrl(row.url)): WebhookReply => ({
  id: row.id,
  object: 'webhook',
  url,
  events: row.events,
  description: row.description,
  status: row.status,
  reason: row.reason,
  pending: row.pending,
  failures: row.failures,
  last_success_at: timeText(row.succeeded_at),
  last_failure_at: timeText(row.failed_at),
  last_error: row.last_error,
  previous_secret_until: timeText(row.previous_until),
  created_at: row.created_at.toISOString(),
})

export const timeText = (time: Date | null): string | null => time?.toISOString() ?? null
