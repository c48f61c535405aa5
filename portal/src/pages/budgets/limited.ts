// All that can have a budget: tokens, databases, functions and workloads, each with its budget now.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { read, readPages, rowsOf, useRest } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'

export type Limited = {
  readonly id: string
  readonly title: string
  readonly budget: string | null
  readonly set: (energy_budget: string | null) => Promise<unknown>
}

/** Undefined until all lists were read. A list that this member may not read has nothing to limit. */
export function useLimited(): readonly Limited[] | undefined {
  const databases = useQuery(read('GET /v1/databases', {}))
  const functions = useQuery(read('GET /v1/functions', {}))
  const workloads = useQuery(read('GET /v1/workloads', {}))
  const pages = useInfiniteQuery(readPages('GET /v1/tokens', {}))
  useRest(pages)
  const isRead = [databases, functions, workloads, pages].every(({ isPending }) => !isPending)
  if (!isRead || (pages.hasNextPage && !pages.isError)) return undefined
  return limitedOf({
    tokens: rowsOf(pages.data),
    databases: databases.data?.data ?? [],
    functions: functions.data?.data ?? [],
    workloads: workloads.data?.data ?? [],
  })
}

type DatabaseRow = ReplyOf<'GET /v1/databases'>['data'][number]
type FunctionRow = ReplyOf<'GET /v1/functions'>['data'][number]
type WorkloadRow = ReplyOf<'GET /v1/workloads'>['data'][number]
type TokenRow = ReplyOf<'GET /v1/tokens'>['data'][number]
type Lists = {
  readonly tokens: readonly Pick<TokenRow, Fact | 'status' | 'hint'>[]
  readonly databases: readonly Pick<DatabaseRow, Fact>[]
  readonly functions: readonly Pick<FunctionRow, Fact>[]
  readonly workloads: readonly Pick<WorkloadRow, Fact>[]
}
type Fact = 'id' | 'name' | 'energy_budget'

/** Resources first. A token that has ended needs no limit. */
export const limitedOf = ({
  tokens,
  databases,
  functions,
  workloads,
}: Lists): readonly Limited[] => [
  ...databases.map((row) => ({
    ...named(row, 'a database'),
    set: (energy_budget: string | null) =>
      call('PATCH /v1/databases/:database', {
        path: { database: row.id },
        body: { energy_budget },
      }),
  })),
  ...functions.map((row) => ({
    ...named(row, 'a function'),
    set: (energy_budget: string | null) =>
      call('PATCH /v1/functions/:function', {
        path: { function: row.id },
        body: { energy_budget },
      }),
  })),
  ...workloads.map((row) => ({
    ...named(row, 'a workload'),
    set: (energy_budget: string | null) =>
      call('PATCH /v1/workloads/:workload', {
        path: { workload: row.id },
        body: { energy_budget },
      }),
  })),
  ...tokens
    .filter(({ status }) => status === 'valid')
    .map((row) => ({
      ...named(row, `a token (${row.hint}…)`),
      set: (energy_budget: string | null) =>
        withTouch(() =>
          call('PATCH /v1/tokens/:token', { path: { token: row.id }, body: { energy_budget } }),
        ),
    })),
]

const named = ({ id, name, energy_budget }: Pick<DatabaseRow, Fact>, kind: string) => ({
  id,
  title: `${name}, ${kind}`,
  budget: energy_budget,
})
