// The day of a resource as a band: when it was awake, and the causes.
import type { UseQueryResult } from '@tanstack/react-query'
import { left, tableTime } from '#console/figures/time.ts'
import { DayBand } from './day-band.tsx'
import {
  lengthOf,
  sleptWords,
  spansOf,
  wokenWords,
  type Interval,
  type Wakers,
} from './intervals.ts'
import { Loaded } from './loaded.tsx'
import { Section } from './section.tsx'
import type { ServiceName } from './services.ts'
import { useNow } from './zone.ts'

const DAY_MS = 86_400_000

export function Awake(props: {
  /** Its intervals of this day of UTC. */
  readonly query: UseQueryResult<{ readonly data: readonly Interval[] }>
  readonly service: ServiceName
  readonly wakers: Wakers
  /** What sleep and wake mean for it. */
  readonly aside: string
}) {
  const { query, service, wakers, aside } = props
  const now = useNow('minute').getTime()
  const nowMs = now % DAY_MS
  return (
    <Section title="Awake today" aside={aside}>
      <Loaded query={query} what="the day">
        {({ data }) => {
          const spans = spansOf(data, { dayMs: now - nowMs, nowMs: now, wakers })
          const awakeMs = lengthOf(spans)
          const words = awakeMs === 0 ? 'Not awake yet today' : `Awake for ${left(awakeMs)}`
          return (
            <div className="stack">
              <DayBand
                spans={spans}
                nowMs={nowMs}
                service={service}
                label={`${words}, by hours of UTC`}
              />
              <details className="small">
                <summary>{words}, by what woke it</summary>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">From, UTC</th>
                      <th scope="col">To</th>
                      <th scope="col">Woken by</th>
                      <th scope="col">Then</th>
                      <th scope="col" className="num">
                        Awake for
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map((one) => (
                      <tr key={`${one.from} ${one.to}`}>
                        <td>{timeOf(one.from, now)}</td>
                        <td>{one.to === null ? 'now' : timeOf(one.to, now)}</td>
                        <td>{wokenWords(one, wakers)}</td>
                        <td>{sleptWords(one)}</td>
                        <td className="num">
                          {left(
                            Date.parse(one.to ?? new Date(now).toISOString()) -
                              Date.parse(one.from),
                          )}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </details>
            </div>
          )
        }}
      </Loaded>
    </Section>
  )
}

const timeOf = (time: string, nowMs: number): string =>
  tableTime(new Date(time), 'UTC', new Date(nowMs))
