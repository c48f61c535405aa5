// The rows of "Where the joules go": the longest queries, what else ran, and the server at rest. Together they are its charge.
import type { ReplyOf } from '#console/client/operations.ts'

export type QueryList = ReplyOf<'GET /v1/databases/:database/queries'>
export type QueryShare = {
  /** Text of the customer, or words of ours. */
  readonly name: string
  readonly isQuery: boolean
  readonly calls: number | undefined
  readonly nj: bigint
}

const SHOWN = 8
const NJ_PER_J = 1e9

/** Joules of an answer, which has them as a number. */
export const inNj = (joules: number): bigint => BigInt(Math.round(joules * NJ_PER_J))

export function shareRows({ data, other_j, rest_j, energy_j }: QueryList): readonly QueryShare[] {
  const row = (name: string, joules: number) =>
    ({ name, isQuery: false, calls: undefined, nj: inNj(joules) }) as const
  const others = data.slice(SHOWN).reduce((sum, { energy_j: joules }) => sum + joules, other_j)
  return [
    ...data.slice(0, SHOWN).map(({ query, calls, energy_j: joules }) => ({
      name: query,
      isQuery: true,
      calls,
      nj: inNj(joules),
    })),
    row('other statements, Ergon’s own among them', others),
    row('the server at rest between queries', rest_j),
    row('together, as the server was charged', energy_j),
  ]
}

const READ_WORDS = 'They are read 3 s after the server starts, and then every 30 s.'

/** Words beside an empty list, which is of the last reading: a query of this moment is in the next. */
export function emptyWords({
  to,
  data,
  energy_j: joules,
}: Pick<QueryList, 'to' | 'data' | 'energy_j'>): string | undefined {
  if (to === null) return `The queries were not read yet. ${READ_WORDS}`
  if (data.length === 0) return `No query of yours had run when they were read. ${READ_WORDS}`
  if (joules > 0) return undefined
  return 'The first minute of the server is charged when it is over: then its queries stand here.'
}
