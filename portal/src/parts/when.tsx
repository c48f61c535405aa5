// A time: exact in tables, or how long ago, with the exact time on hover and for machines.
import { ago, clockExact, day, tableTime } from '../figures/time.ts'
import { useNow, useZone } from './zone.ts'

export function When({
  at,
  isExact = false,
}: {
  readonly at: string | Date
  readonly isExact?: boolean
}) {
  const now = useNow(isExact ? 'day' : 'minute')
  const zone = useZone()
  const time = typeof at === 'string' ? new Date(at) : at
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
