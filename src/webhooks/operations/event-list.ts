// GET /v1/events: the events of the account by their sequence, whether an endpoint asks for them or not.
import type { EventBody } from '#contract/webhooks.ts'
import { readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

const SEQUENCE = /^\d{1,15}$/

type Row = {
  readonly id: string
  readonly type: string
  readonly sequence: string
  readonly occurred_at: Date
  readonly data: EventBody['data']
}

export const createEventList =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ who, query: queryOf }) => {
    const query = queryOf()
    // A sequence is a cursor. `after` is the name by which receivers ask from a sequence that they know.
    const page = readListPage(query, SEQUENCE, query.has('after') ? 'after' : 'cursor')
    const { rows } = await state.query<Row>(
      `select id, type, sequence::text, occurred_at, data from events
       where account = $1 and sequence > $2 order by events.sequence limit $3`,
      [callerOf(who).account, page.cursor?.[0] ?? '0', page.rowsMax],
    )
    const reply = page.list(rows, toBody, ({ sequence }) => sequence)
    return { kind: 'known', status: 200, body: () => reply }
  }

const toBody = ({ id, type, occurred_at: at, data }: Row): EventBody => ({
  event: type,
  event_id: id,
  occurred_at: at.toISOString(),
  data,
})
