// The address of the API, for code and commands to copy.
import { useQuery } from '@tanstack/react-query'
import { read } from './queries.ts'

/** The account's page of top-ups is below the address of the API, unless its operator chose another page. */
export function useApiUrl(): string {
  const balance = useQuery({ ...read('GET /v1/balance', {}), staleTime: Infinity })
  const url = balance.data?.top_up_url
  return url?.endsWith('/v1/topups') === true ? url.slice(0, -'/v1/topups'.length) : '{base_url}'
}
