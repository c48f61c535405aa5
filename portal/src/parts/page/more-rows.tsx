// The next page of a list.
import type { UseInfiniteQueryResult } from '@tanstack/react-query'

type Query = Pick<
  UseInfiniteQueryResult<unknown>,
  'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
>

export const MoreRows = ({ query, label }: { readonly query: Query; readonly label: string }) =>
  query.hasNextPage ? (
    <button
      type="button"
      className="btn small"
      disabled={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
    >
      {label}
    </button>
  ) : null
