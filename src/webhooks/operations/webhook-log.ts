// GET /v1/webhook-deliveries: what was sent, the newest first.
import { fault } from '#contract/errors.ts'
import { readListPage } from '#http/list-page.ts'
import { readTime } from '#http/read-time.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { DELIVERY_COLUMNS, deliveryReplyOf, type DeliveryRow } from '#webhooks/find-delivery.ts'
import { findWebhook } from '#webhooks/find-webhook.ts'
import { callerOf } from '#identity/principal.ts'

/** The number of an entry. */
const CURSOR = /^\d{1,18}$/
const STATES = ['pending', 'delivered', 'dead']

export const createWebhookLog =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller, query: queryOf }) => {
    const { account } = callerOf({ caller })
    const query = queryOf()
    const page = readListPage(query, CURSOR)
    const webhook = query.get('webhook')
    if (webhook !== null) await findWebhook(state, account, webhook)
    const wanted = query.get('status')
    if (wanted !== null && !STATES.includes(wanted))
      throw fault('invalid_request', `Could not list: status is one of ${STATES.join(', ')}`, {
        param: 'status',
      })
    const { rows } = await state.query<DeliveryRow>(
      `select ${DELIVERY_COLUMNS}
       from webhook_endpoints e cross join lateral (
         select * from webhook_deliveries w
         where w.endpoint = e.id and w.created_at >= $3 and ($5::text is null or w.state = $5)
           and ($4::bigint is null
             or (w.created_at, w.id) < (select c.created_at, c.id from webhook_deliveries c where c.id = $4))
         order by w.created_at desc, w.id desc limit $6) d left join events v on v.id = d.event
       where e.account = $1 and ($2::text is null or e.id = $2)
       order by d.created_at desc, d.id desc limit $6`,
      [
        account,
        webhook,
        readTime(query.get('since'), 'since') ?? new Date(0),
        page.cursor?.[0] ?? null,
        wanted,
        page.rowsMax,
      ],
    )
    const reply = page.list(rows, deliveryReplyOf, ({ id }) => id)
    return { kind: 'known', status: 200, body: () => reply }
  }
