// GET /v1/functions/{id or name}/logs: the newest lines, or those after a cursor.
import { parseFunctionLogsQuery } from '#contract/functions.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'
import { findFunction } from './find-function.ts'

const LINES = 200

type LineRow = {
  readonly seq: string
  readonly at: Date
  readonly request: string | null
  readonly level: string
  readonly text: string
}

export const createFunctionLogs =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ who, parameters, query }) => {
    const { after = '0', limit = LINES } = parseFunctionLogsQuery(query())
    const { id } = await findFunction(state, callerOf(who).account, parameters['function'] ?? '')
    const { rows } = await state.query<LineRow>(
      `select seq::text, at, request, level, text from function_logs
       where function = $1 and seq > $2 order by function_logs.seq desc limit $3`,
      [id, after, limit],
    )
    const data = rows.toReversed().map(({ at, request, level, text }) => ({
      at: at.toISOString(),
      request_id: request,
      level,
      text,
    }))
    return known({ object: 'list', data, cursor: rows[0]?.seq ?? after })
  }
