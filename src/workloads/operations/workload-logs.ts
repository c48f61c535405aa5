// GET /v1/workloads/{id or name}/logs: the newest lines, or those after a cursor.
import { parseWorkloadLogsQuery } from '#contract/workloads/workload-replies.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { readResourceLog } from '#resources/read-log.ts'
import type { Queryable } from '#state/connect.ts'
import { SHOWN_WORKLOADS } from '#workloads/find-workload.ts'
import { writerOf } from '#workloads/log-source.ts'

const LINES = 200

export const createWorkloadLogs =
  ({ state }: { readonly state: Queryable }): Handler =>
  async (call) => {
    const { after = '0', lines = LINES } = parseWorkloadLogsQuery(call.query())
    const { id } = await askedResource(SHOWN_WORKLOADS, state, call)
    const page = await readResourceLog(state, id, { after, lines })
    const data = page.data.map(({ at, source, level, text }) => ({
      at,
      ...writerOf(source ?? ''),
      stream: level,
      text,
    }))
    return known({ object: 'list', data, cursor: page.cursor })
  }
