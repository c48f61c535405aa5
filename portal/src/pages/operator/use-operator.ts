// Reads of the operator's view. A page in the background reads nothing.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { changed, read, readPages } from '#console/client/queries.ts'

const SLOW_MS = 10_000

export const useNode = () =>
  useQuery({ ...read('GET /v1/operator/node', {}), refetchInterval: SLOW_MS })

export const useBooks = () =>
  useQuery({ ...read('GET /v1/operator/books', {}), refetchInterval: SLOW_MS })

export const useAccounts = () => useInfiniteQuery(readPages('GET /v1/operator/accounts', {}))

export const useAlarms = (isAll: boolean) =>
  useInfiniteQuery({
    ...readPages('GET /v1/operator/alarms', { query: isAll ? { acknowledged: 'true' } : {} }),
    refetchInterval: SLOW_MS,
  })

export const useIncidents = () => useQuery(read('GET /v1/operator/incidents', {}))

export const accountsChanged = (): Promise<void> => changed('GET /v1/operator/accounts')
export const alarmsChanged = (): Promise<void> =>
  changed('GET /v1/operator/alarms', 'GET /v1/operator/books')
export const incidentsChanged = (): Promise<void> => changed('GET /v1/operator/incidents')
