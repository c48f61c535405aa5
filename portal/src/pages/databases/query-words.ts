// Words of the query box: the most that a statement can cost before, and its cost after. The server's charge has more, which
// the box says: its rest is no statement's.
import type { Cost } from '#console/chat/cost.ts'
import { isProblem, Problem } from '#console/client/problem.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { energyShort } from '#console/figures/energy.ts'
import { inNj } from './query-shares.ts'

type QueryCeiling = ReplyOf<'GET /v1/databases/:database/query/ceiling'>
type AnsweredQuery = Pick<
  ReplyOf<'POST /v1/databases/:database/query'>,
  'row_count' | 'cut' | 'duration_ms' | 'server_j'
>

export const mostWords = ({ ceiling_nj, server_j }: QueryCeiling): string =>
  `At most ${energyShort(BigInt(ceiling_nj))} for the request, and at most ${energyShort(inNj(server_j))} of its server while the statement runs.`

/** The problem of a statement that writes, with the name of this database in the command of its advice. */
export const namedProblem = (error: unknown, name: string): unknown =>
  isProblem(error, 'database_query_read_only')
    ? new Problem({ ...error, detail: error.message.replace('db url NAME', `db url ${name}`) })
    : error

/** The number of the rows stands before. */
export function costWords(answer: AnsweredQuery, cost: Cost | undefined): string {
  const { cut, duration_ms: ms, server_j: serverJ } = answer
  const request = cost === undefined ? '' : ` for ${energyShort(cost.figure.nj)}`
  const server = `at most ${energyShort(inNj(serverJ))} of its server while it ran`
  return `in ${ms.toFixed(1)} ms${request}, and ${server}. The server at rest costs besides, as shown below.${cut ? ' There are more rows.' : ''}`
}
