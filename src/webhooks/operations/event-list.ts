// GET /v1/events: the events of the account by their sequence, whether an endpoint asks for them or not.
import { fault } from '#contract/errors.ts'
import type { EventBody } from '#contract/webhooks.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { readLimit } from './read-limit.ts'

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
    const limit = readLimit(query)
    const after = query.get('after') ?? '0'
    if (!/^\d{1,15}$/.test(after))
      throw fault('invalid_request', 'Could not list: after is the sequence of an event', {
        param: 'after',
      })
    const { rows } = await state.query<Row>(
      `select id, type, sequence::text, occurred_at, data from events
       where account = $1 and sequence > $2 order by sequence limit $3`,
      [who?.account, after, limit + 1],
    )
    const given = rows.slice(0, limit)
    const hasMore = rows.length > limit
    const reply = {
      object: 'list',
      data: given.map(toBody),
      has_more: hasMore,
      next_cursor: hasMore ? given.at(-1)?.sequence : null,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }

const toBody = ({ id, type, occurred_at: at, data }: Row): EventBody => ({
  event: type,
  event_id: id,
  occurred_at: at.toISOString(),
  data,
})
