// The power of a database in its newest charged minute, in words. A server that was just started has no such minute yet.
import { power } from '#console/figures/energy.ts'
import type { Database, DatabaseEnergy } from './database.ts'

/** A minute is charged when it is over: an older one is not the last. */
export const LAST_MS = 180_000
const MINUTE_S = 60n

/** The figure, and what it stands for. The figure is empty while the energy is not read yet. */
export function lastMinute(
  { last_awake }: Pick<Database, 'last_awake'>,
  energy: Pick<DatabaseEnergy, 'data'> | undefined,
  now: Date,
): readonly [figure: string, words: string] {
  const last = powerOf(energy, now)
  if (last !== 0n)
    return [last === undefined ? '' : power(last), 'its server, sessions and stored bytes']
  if (last_awake?.to !== null) return [power(last), 'asleep: only stored bytes cost']
  const isFirst = now.getTime() - new Date(last_awake.from).getTime() < LAST_MS
  return [
    'awake',
    isFirst
      ? 'its first minute is charged when it is over'
      : 'its last minutes are not charged yet',
  ]
}

/** In nanojoules a second; zero when the newest minute is long ago. */
function powerOf(energy: Pick<DatabaseEnergy, 'data'> | undefined, now: Date): bigint | undefined {
  if (energy === undefined) return undefined
  const newest = energy.data.at(-1)
  const isNew = newest !== undefined && now.getTime() - new Date(newest.at).getTime() < LAST_MS
  return isNew ? BigInt(newest.energy_nj) / MINUTE_S : 0n
}
