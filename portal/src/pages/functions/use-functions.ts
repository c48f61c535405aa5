// Reads of functions. A message of the live stream about one of them has it read again.
import { useQuery } from '@tanstack/react-query'
import { changed, read } from '#console/client/queries.ts'
import { useResourceChanges } from '#console/live/use-resource-changes.ts'
import { useNow } from '#console/parts/zone.ts'
import { isBeingTried, type Deployed } from './function.ts'

/** While a version is tried. */
const TRIED_MS = 1_000
/** A version may come from a command line; the live stream tells states alone. */
const SHOWN_MS = 5_000
/** The energy of the day is at most so old. */
const ENERGY_MS = 60_000
const LOG_MS = 2_000
const LINES = '200'

export function useFunctions() {
  useResourceChanges('function', functionsChanged)
  return useQuery({
    ...read('GET /v1/functions', {}),
    refetchInterval: ({ state }) => (state.data?.data.some(isBeingTried) ? TRIED_MS : false),
  })
}

/** By name or id. */
export function useFunction(name: string) {
  useResourceChanges('function', functionsChanged)
  return useQuery({
    ...read('GET /v1/functions/:function', { path: { function: name } }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isBeingTried(state.data) ? TRIED_MS : SHOWN_MS,
  })
}

/** The charges of this day of UTC, of all functions by their ids, in one read. */
export function useFunctionsToday() {
  const day = useNow('day').toISOString().slice(0, 10)
  const { data } = useQuery({
    ...read('GET /v1/usage', {
      query: { from: `${day}T00:00:00Z`, group_by: 'resource', service: 'functions' },
    }),
    refetchInterval: ENERGY_MS,
  })
  return (id: string) => {
    const row = data?.data.find(({ group }) => group === `function:${id}`)
    return data && { nj: BigInt(row?.energy_nj ?? 0), pusd: BigInt(row?.charge_pusd ?? 0) }
  }
}

/** The newest lines, read again while `isFollowed`. */
export const useLog = ({ id }: Pick<Deployed, 'id'>, isFollowed: boolean) =>
  useQuery({
    ...read('GET /v1/functions/:function/logs', {
      path: { function: id },
      query: { limit: LINES },
    }),
    refetchInterval: isFollowed ? LOG_MS : false,
  })

export const functionsChanged = (): Promise<void> =>
  changed('GET /v1/functions', 'GET /v1/functions/:function', 'GET /v1/functions/:function/logs')
