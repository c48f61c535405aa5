// GET /v1/topups and GET /v1/topups/{topup}.
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { findTopup, listTopups } from './find-topup.ts'

const LIMIT = 20
const LIMIT_MAX = 100
const ID = /^pay_[0-9a-z]{26}$/
/** Beyond every id. */
const NEWEST = 'pay_~'

type Deps = { readonly state: Queryable }

export const createTopupGet =
  ({ state }: Deps): Handler =>
  async ({ who, parameters }) => {
    const reply = await findTopup(state, who?.account ?? '', parameters['topup'] ?? '')
    return { kind: 'known', status: 200, body: () => reply }
  }

export const createTopupList =
  ({ state }: Deps): Handler =>
  async ({ who, query: queryOf }) => {
    const query = queryOf()
    const before = query.get('cursor') ?? NEWEST
    if (before !== NEWEST && !ID.test(before))
      throw fault('invalid_request', 'Could not list: give cursor as next_cursor said it', {
        param: 'cursor',
      })
    const limit = Number(query.get('limit') ?? LIMIT)
    if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
      throw fault('invalid_request', `Could not list: limit is 1 to ${LIMIT_MAX}`, {
        param: 'limit',
      })
    const found = await listTopups(state, who?.account ?? '', { before, limit: limit + 1 })
    const data = found.slice(0, limit)
    const hasMore = found.length > limit
    const reply = {
      object: 'list',
      data,
      has_more: hasMore,
      next_cursor: hasMore ? (data.at(-1)?.id ?? null) : null,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }
