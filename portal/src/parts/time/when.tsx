// A time: exact in tables, or how long ago, with the exact time on hover and for machines.
import { ago, clockExact, day, tableTime, type Zone } from '#console/figures/time.ts'
import { useNow, useZone } from './zone.ts'

const TICK_MS = 10_000

/** The zone, and the clock that texts follow. */
export type Times = { readonly zone: Zone; readonly now: Date }
type Shown = {
  readonly at: string | Date
  /** Not how long ago. */
  readonly isExact?: boolean
  /** Exact, in a column whose head has the zone. */
  readonly inColumn?: boolean
}

export function When(shown: Shown) {
  const now = useNow(shown.isExact || shown.inColumn ? 'day' : 'minute')
  return <Time {...shown} times={{ zone: useZone(), now }} />
}

/** For long lists, which have the clock and the zone once. */
export function Time({ at, isExact, inColumn, times }: Shown & { readonly times: Times }) {
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
      {inColumn || isExact ? tableTime(time, zone, now) : ago(time, now, zone)}
      {isExact && ` ${ZONE_WORDS[zone]}`}
    </time>
  )
}

/** The head of a column of exact times: each column says its zone, and each time outside of a column. */
export const TimeHead = ({ name = 'Time' }: { readonly name?: string }) => (
  <>
    {name}, {ZONE_WORDS[useZone()]}
  </>
)

const ZONE_WORDS: Readonly<Record<Zone, string>> = { UTC: 'UTC', local: 'local time' }

/** A time that may never come, or never came. */
export const WhenOrNever = ({ at }: { readonly at: string | null }) =>
  at === null ? 'never' : <When at={at} />
