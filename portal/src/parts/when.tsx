// A time: exact in tables, or how long ago, with the exact time on hover and for machines.
import { ago, clockExact, day, tableTime, type Zone } from '#console/figures/time.ts'
import { useNow, useZone } from './zone.ts'

const TICK_MS = 10_000

/** The zone, and the clock that texts follow. */
export type Times = { readonly zone: Zone; readonly now: Date }
type Shown = { readonly at: string | Date; readonly isExact?: boolean }

export function When({ at, isExact = false }: Shown) {
  const now = useNow(isExact ? 'day' : 'minute')
  return <Time at={at} isExact={isExact} times={{ zone: useZone(), now }} />
}

/** For long lists, which have the clock and the zone once. */
export function Time({ at, isExact = false, times }: Shown & { readonly times: Times }) {
  const { zone, now: tick } = times
  const time = typeof at === 'string' ? new Date(at) : at
  // The clock that texts follow is at most so old: what has happened since is now, and not "in 3 s".
  const aheadMs = time.getTime() - tick.getTime()
  const now = aheadMs > 0 && aheadMs < TICK_MS ? time : tick
  return (
    <time
      className="nowrap"
      dateTime={time.toISOString()}
      title={`${day(time, zone, now)}, ${clockExact(time, zone)}`}
    >
      {isExact ? tableTime(time, zone, now) : ago(time, now, zone)}
    </time>
  )
}

/** The zone of a column of times. */
export const ZoneName = () => (useZone() === 'UTC' ? 'UTC' : 'Local time')

/** A time that may never come, or never came. */
export const WhenOrNever = ({ at }: { readonly at: string | null }) =>
  at === null ? 'never' : <When at={at} />
