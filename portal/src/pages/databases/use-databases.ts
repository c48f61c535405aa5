// Reads of databases. A message of the live stream about one of them has it read again.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { changed, read } from '#console/client/queries.ts'
import { useResourceChanges } from '#console/live/use-resource-changes.ts'
import { INTERVALS_MAX } from '#console/parts/resources/intervals.ts'
import { useNow } from '#console/parts/time/zone.ts'
import { isBackupChanging, isChanging, type Database } from './database.ts'
import { LAST_MS } from './last-minute.ts'

/** While something is made. */
const CHANGING_MS = 2_000
/** The live stream tells states; size, connections and other figures of a page are at most so old. */
const SHOWN_MS = 60_000
/** The energy of the day is at most so old. */
const ENERGY_MS = 60_000
const MINUTE_MS = 60_000

export function useDatabases() {
  useResourceChanges('database', databasesChanged)
  return useQuery({
    ...read('GET /v1/databases', {}),
    refetchInterval: ({ state }) => (state.data?.data.some(isChanging) ? CHANGING_MS : false),
  })
}

/** Reads a database by its name or id. */
export function useDatabase(name: string) {
  useResourceChanges('database', databasesChanged)
  return useQuery({
    ...read('GET /v1/databases/:database', { path: { database: name } }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isChanging(state.data) ? CHANGING_MS : SHOWN_MS,
  })
}

/** Those of this day of UTC, the newest first; a wake or a sleep has them read again. */
export function useIntervals({ id, last_awake }: Pick<Database, 'id' | 'last_awake'>) {
  const day = useNow('day').toISOString().slice(0, 10)
  const query = useQuery(
    read('GET /v1/databases/:database/intervals', {
      path: { database: id },
      query: { from: `${day}T00:00:00Z`, limit: INTERVALS_MAX },
    }),
  )
  const newest = JSON.stringify(last_awake)
  useEffect(() => void changed('GET /v1/databases/:database/intervals'), [newest])
  return query
}

/** The energy of this UTC day, as one sum: minutes of a day would cost the account a second of CPU. */
export function useEnergyToday({ id }: Pick<Database, 'id'>) {
  const day = useNow('day').toISOString().slice(0, 10)
  return useQuery({
    ...read('GET /v1/databases/:database/energy', {
      path: { database: id },
      query: { from: `${day}T00:00:00Z`, by: 'day' },
    }),
    refetchInterval: ENERGY_MS,
  })
}

/** Reads the energy of the last minutes, by the minute. */
export function useEnergyNow({ id }: Pick<Database, 'id'>) {
  // A minute has one charge: to ask more often tells nothing new.
  const fromMs = Math.floor(useNow('minute').getTime() / MINUTE_MS) * MINUTE_MS - LAST_MS
  return useQuery({
    ...read('GET /v1/databases/:database/energy', {
      path: { database: id },
      query: { from: new Date(fromMs).toISOString(), by: 'minute' },
    }),
    placeholderData: keepPreviousData,
  })
}

export const useRoles = ({ id }: Pick<Database, 'id'>) =>
  useQuery(read('GET /v1/databases/:database/roles', { path: { database: id } }))

/** The newest first. */
export const useBackups = ({ id }: Pick<Database, 'id'>) =>
  useQuery({
    ...read('GET /v1/databases/:database/backups', { path: { database: id } }),
    // The live stream tells nothing of backups, and one begins by itself each night.
    refetchInterval: ({ state }) =>
      state.data?.data.some(isBackupChanging) ? CHANGING_MS : SHOWN_MS,
  })

export const databasesChanged = (): Promise<void> =>
  changed('GET /v1/databases', 'GET /v1/databases/:database')
