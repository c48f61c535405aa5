// Reads of functions. A message of the live stream about one of them has it read again.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changed, read } from '#console/client/queries.ts'
import { useCharges } from '#console/live/use-charges.ts'
import { useResourceChanges } from '#console/live/use-resource-changes.ts'
import { LOG_LINES } from '#console/parts/resources/log.tsx'
import { createLogPace } from '#console/parts/resources/log-pace.ts'
import { INTERVALS_MAX } from '#console/parts/resources/intervals.ts'
import { isBeingTried } from '#console/parts/resources/versioned.ts'
import { useNow } from '#console/parts/time/zone.ts'
import type { Deployed } from './function.ts'

/** While a version is tried. */
const TRIED_MS = 1_000
/** Work that may come from a command line, and makes a version or ends failures. */
const WORK = [
  'function.deploy',
  'function.update',
  'function.rollback',
  'function.replay',
  'function.discard',
  'deployment.apply',
]
/** The live stream tells states and charges; the other figures of a page are at most so old. */
const SHOWN_MS = 60_000
/** Hours of energy are at most so old. */
const ENERGY_MS = 60_000

export function useFunctions() {
  useResourceChanges('function', functionsChanged)
  useCharges(WORK, functionsChanged)
  return useQuery({
    ...read('GET /v1/functions', {}),
    refetchInterval: ({ state }) => (state.data?.data.some(isBeingTried) ? TRIED_MS : SHOWN_MS),
  })
}

/** Reads a function by its name or id. */
export function useFunction(name: string) {
  useResourceChanges('function', functionsChanged)
  useCharges(WORK, functionsChanged)
  return useQuery({
    ...read('GET /v1/functions/:function', { path: { function: name } }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isBeingTried(state.data) ? TRIED_MS : SHOWN_MS,
  })
}

/** The newest lines, read again while `isFollowed`. */
export function useLog({ id }: Pick<Deployed, 'id'>, isFollowed: boolean) {
  const [paceMs] = useState(() => createLogPace())
  return useQuery({
    ...read('GET /v1/functions/:function/logs', {
      path: { function: id },
      query: { limit: LOG_LINES },
    }),
    refetchInterval: ({ state }) => (isFollowed ? paceMs(state.data?.data) : false),
  })
}

/** The runs that failed for good, while there are some. */
export const useFailures = ({ id, runs_failed }: Pick<Deployed, 'id' | 'runs_failed'>) =>
  useQuery({
    ...read('GET /v1/functions/:function/failures', { path: { function: id } }),
    enabled: runs_failed > 0,
    refetchInterval: SHOWN_MS,
  })

/** Reads the energy of the last day, by the hour. */
export const useEnergy = ({ id }: Pick<Deployed, 'id'>) =>
  useQuery({
    ...read('GET /v1/functions/:function/energy', { path: { function: id } }),
    refetchInterval: ENERGY_MS,
  })

/** Those of this day of UTC, the newest first; a wake or a sleep has them read again. */
export function useIntervals({ id }: Pick<Deployed, 'id'>) {
  const day = useNow('day').toISOString().slice(0, 10)
  return useQuery(
    read('GET /v1/functions/:function/intervals', {
      path: { function: id },
      query: { from: `${day}T00:00:00Z`, limit: INTERVALS_MAX },
    }),
  )
}

export const functionsChanged = (): Promise<void> =>
  changed(
    'GET /v1/functions',
    'GET /v1/functions/:function',
    'GET /v1/functions/:function/logs',
    'GET /v1/functions/:function/intervals',
    'GET /v1/functions/:function/failures',
    'GET /v1/functions/:function/energy',
  )
