// A day as a band from 00:00 to 24:00 UTC: spans are drawn in a service's colour, the time to come is empty.
import { clock } from '#console/figures/time.ts'
import type { ServiceName } from './services.ts'
import './day-band.css'

/** In milliseconds since the day began; its cause, where it is known. */
export type DaySpan = {
  readonly fromMs: number
  readonly toMs: number
  readonly cause?: string
  /** It could not run: drawn in grey. */
  readonly isOff?: boolean
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
const HOURS = ['00:00', '06:00', '12:00', '18:00', '24:00']

export function DayBand(props: {
  readonly spans: readonly DaySpan[]
  readonly nowMs: number
  readonly service: ServiceName
  readonly label: string
}) {
  const { spans, nowMs, service, label } = props
  const now = nowMs / MINUTE_MS
  return (
    <figure className={`day-band ${service}`}>
      <svg
        viewBox={`0 0 ${DAY_MINUTES} 26`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <rect className="past" width={now} height="26" />
        {spans.map((span) => (
          <rect
            key={span.fromMs}
            className={span.isOff === true ? 'span off' : 'span'}
            x={span.fromMs / MINUTE_MS}
            width={Math.max((span.toMs - span.fromMs) / MINUTE_MS, 1)}
            height="26"
          >
            <title>{spanWords(span)}</title>
          </rect>
        ))}
        <path className="now" d={`M${now} 0V26`} />
      </svg>
      <p className="hours tiny" aria-hidden="true">
        {HOURS.map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </p>
    </figure>
  )
}

/** 06:01 to 07:30, and the cause. */
function spanWords({ fromMs, toMs, cause }: DaySpan): string {
  const time = `${minuteOf(fromMs)} to ${minuteOf(toMs)}`
  return cause === undefined ? time : `${time}, ${cause}`
}

/** 06:01; the end of the day is 24:00. */
export const minuteOf = (ms: number): string =>
  ms >= DAY_MINUTES * MINUTE_MS ? '24:00' : clock(new Date(ms), 'UTC').slice(0, 5)
