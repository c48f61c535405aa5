// Reads of workloads. A message of the live stream about one of them has it read again.
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
import type { Workload } from './workload.ts'

/** While a version is pulled or tried. */
const TRIED_MS = 1_000
/** Work that may come from a command line, and makes a version or changes the instances. */
const WORK = [
  'workload.deploy',
  'workload.update',
  'workload.scale',
  'workload.rollback',
  'deployment.apply',
]
/** The live stream tells states and charges; the other figures of a page are at most so old. */
const SHOWN_MS = 60_000
/** Hours of energy are at most so old. */
const ENERGY_MS = 60_000

export function useWorkloads() {
  useResourceChanges('workload', workloadsChanged)
  useCharges(WORK, workloadsChanged)
  return useQuery({
    ...read('GET /v1/workloads', {}),
    refetchInterval: ({ state }) => (state.data?.data.some(isBeingTried) ? TRIED_MS : SHOWN_MS),
  })
}

/** Reads a workload by its name or id. */
export function useWorkload(name: string) {
  useResourceChanges('workload', workloadsChanged)
  useCharges(WORK, workloadsChanged)
  return useQuery({
    ...read('GET /v1/workloads/:workload', { path: { workload: name } }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isBeingTried(state.data) ? TRIED_MS : SHOWN_MS,
  })
}

/** The newest lines, read again while `isFollowed`. */
export function useLog({ id }: Pick<Workload, 'id'>, isFollowed: boolean) {
  const [paceMs] = useState(() => createLogPace())
  return useQuery({
    ...read('GET /v1/workloads/:workload/logs', {
      path: { workload: id },
      query: { lines: LOG_LINES },
    }),
    refetchInterval: ({ state }) => (isFollowed ? paceMs(state.data?.data) : false),
  })
}

/** Reads the energy of the last day, by the hour. */
export const useEnergy = ({ id }: Pick<Workload, 'id'>) =>
  useQuery({
    ...read('GET /v1/workloads/:workload/energy', { path: { workload: id } }),
    refetchInterval: ENERGY_MS,
  })

/** Those of this day of UTC, the newest first; a wake or a sleep has them read again. */
export function useIntervals({ id }: Pick<Workload, 'id'>) {
  const day = useNow('day').toISOString().slice(0, 10)
  return useQuery(
    read('GET /v1/workloads/:workload/intervals', {
      path: { workload: id },
      query: { from: `${day}T00:00:00Z`, limit: INTERVALS_MAX },
    }),
  )
}

export const workloadsChanged = (): Promise<void> =>
  changed(
    'GET /v1/workloads',
    'GET /v1/workloads/:workload',
    'GET /v1/workloads/:workload/logs',
    'GET /v1/workloads/:workload/intervals',
    'GET /v1/workloads/:workload/energy',
  )
