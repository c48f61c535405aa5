// GET /v1/functions/{id or name}/logs: the newest lines, or those after a cursor.
import { parseFunctionLogsQuery } from '#contract/functions/functions.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { readResourceLog } from '#resources/read-log.ts'
import type { Queryable } from '#state/connect.ts'
import { SHOWN_FUNCTIONS } from '#functions/find-function.ts'

const LINES = 200

export const createFunctionLogs =
  ({ state }: { readonly state: Queryable }): Handler =>
  async (call) => {
    const { after = '0', limit = LINES } = parseFunctionLogsQuery(call.query())
    const { id } = await askedResource(SHOWN_FUNCTIONS, state, call)
    const { data: lines, cursor } = await readResourceLog(state, id, { after, lines: limit })
    const data = lines.map(({ source, ...line }) => ({ ...line, request_id: source }))
    return known({ object: 'list', data, cursor })
  }
