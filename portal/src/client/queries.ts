// Reads as queries: one place decides how long an answer is fresh and when a failed read is asked again.
import {
  infiniteQueryOptions,
  QueryClient,
  queryOptions,
  useQuery,
  type InfiniteData,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from './call.ts'
import type { InputOf, Key, ReplyOf } from './operations.ts'
import { isProblem } from './problem.ts'
import { onSignedOut } from './signed-out.ts'

const FRESH_MS = 10_000
const RETRIES_MAX = 3
const RETRY_MS = 2_000
const RETRY_MS_MAX = 30_000

/** Answers that do not change by asking again: a missing right, a wrong id. */
const isFinal = (error: unknown): boolean =>
  isProblem(error) && error.status >= 400 && error.status < 500 && error.status !== 429

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      refetchOnWindowFocus: true,
      retry: (count, error) => !isFinal(error) && count < RETRIES_MAX,
      retryDelay: (count, error) =>
        isProblem(error) && error.retryMs !== undefined
          ? error.retryMs
          : Math.min(RETRY_MS * 2 ** count, RETRY_MS_MAX),
    },
  },
})

type ReadKey = Extract<Key, `GET ${string}`>

/** A read of one answer. */
export const read = <K extends ReadKey>(key: K, input: InputOf<K>) =>
  queryOptions({
    queryKey: [key, input],
    queryFn: ({ signal }): Promise<ReplyOf<K>> => call(key, { ...input, signal }),
  })

type Page = { readonly next_cursor: string | null }
type ListKey = { [K in ReadKey]: ReplyOf<K> extends Page ? K : never }[ReadKey]

/** A read of a list page by page. */
export const readPages = <K extends ListKey>(key: K, input: InputOf<K>) =>
  infiniteQueryOptions({
    queryKey: [key, input, 'pages'],
    queryFn: ({ signal, pageParam }): Promise<ReplyOf<K>> => {
      const { query } = input as { readonly query?: Readonly<Record<string, string>> }
      const next = pageParam === '' ? {} : { cursor: pageParam }
      return call(key, { ...input, query: { ...query, ...next }, signal })
    },
    initialPageParam: '',
    getNextPageParam: (page) => (page as Page).next_cursor,
  })

/** All rows of the pages that were read. */
export const rowsOf = <Row>(
  data: InfiniteData<{ readonly data: readonly Row[] }> | undefined,
): readonly Row[] => data?.pages.flatMap((page) => page.data) ?? []

/** Reads the further pages of a list, until its end or a page that fails. */
export function useRest(query: {
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  readonly isError: boolean
  readonly fetchNextPage: () => Promise<unknown>
}): void {
  const { hasNextPage, isFetching, isError, fetchNextPage } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])
}

/** Reads of these operations are asked again when a page shows them, of a hidden page once somebody looks. */
export const changed = (...keys: readonly ReadKey[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => keys.includes(queryKey[0] as ReadKey),
    refetchType: document.hidden ? 'none' : 'active',
  })

/** Time of the newest answer, in milliseconds since 1970; 0 before the first. */
export const lastAnswerMs = (): number =>
  Math.max(
    0,
    ...queryClient
      .getQueryCache()
      .getAll()
      .map(({ state }) => state.dataUpdatedAt),
  )

// The shell shows Sign in, at the same address, once the session is known to be over.
// A hidden page asks too: what the page shows ends with the session.
onSignedOut(() => void queryClient.invalidateQueries({ queryKey: ['GET /v1/session'] }))

/** True for owners and admins of the operator's account. */
export const useIsOperator = (): boolean =>
  useQuery(read('GET /v1/session', {})).data?.is_operator === true
