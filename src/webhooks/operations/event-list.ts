// GET /v1/events: the events of the account by their sequence, whether an endpoint asks for them or not.
import { fault } from '#contract/errors.ts'
import type { EventBody } from '#contract/webhooks/webhooks.ts'
import { readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

const SEQUENCE = /^\d{1,15}$/
/** After each of them. */
const SEQUENCE_END = '1000000000000000'

type Row = {
  readonly id: string
  readonly type: string
  readonly sequence: string
  readonly occurred_at: Date
  readonly data: EventBody['data']
}

export const createEventList =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller, query: queryOf }) => {
    const query = queryOf()
    const isNewestFirst = readOrder(query)
    // A sequence is a cursor. `after` is the name by which receivers ask from a sequence that they know.
    const page = readListPage(query, SEQUENCE, query.has('after') ? 'after' : 'cursor')
    const begin = isNewestFirst ? SEQUENCE_END : '0'
    const { rows } = await state.query<Row>(
      `select id, type, sequence::text, occurred_at, data from events
       where account = $1 and sequence ${isNewestFirst ? '<' : '>'} $2
       order by events.sequence ${isNewestFirst ? 'desc' : 'asc'} limit $3`,
      [callerOf({ caller }).account, page.cursor?.[0] ?? begin, page.rowsMax],
    )
    const reply = page.list(rows, toBody, ({ sequence }) => sequence)
    return { kind: 'known', status: 200, body: () => reply }
  }

/** True for the newest first. */
function readOrder(query: URLSearchParams): boolean {
  const order = query.get('order') ?? 'oldest'
  if (order !== 'oldest' && order !== 'newest') throw wrong('order', 'it is oldest or newest')
  if (order === 'newest' && query.has('after'))
    throw wrong('order', 'those after a sequence come the oldest first')
  return order === 'newest'
}

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not list by ${param}: ${why}`, { param })

const toBody = ({ id, type, occurred_at: at, data }: Row): EventBody => ({
  event: type,
  event_id: id,
  occurred_at: at.toISOString(),
  data,
})
