// A time: exact in tables, or how long ago, with the exact time on hover and for machines.
import { ago, clockExact, day, tableTime } from '#console/figures/time.ts'
import { useNow, useZone } from './zone.ts'

const TICK_MS = 10_000

export function When({
  at,
  isExact = false,
}: {
  readonly at: string | Date
  readonly isExact?: boolean
}) {
  const tick = useNow(isExact ? 'day' : 'minute')
  const zone = useZone()
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
