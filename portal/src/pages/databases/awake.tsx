// The day of a database as a band: when its server was awake, and the causes.
import { left, tableTime } from '#console/figures/time.ts'
import { DayBand } from '#console/parts/day-band.tsx'
import { Loaded } from '#console/parts/loaded.tsx'
import { Section } from '#console/parts/section.tsx'
import { useNow } from '#console/parts/zone.ts'
import type { Database } from './database.ts'
import { lengthOf, sleptWords, spansOf, wokenWords } from './intervals.ts'
import { useIntervals } from './use-databases.ts'

const DAY_MS = 86_400_000

export function Awake({ database }: { readonly database: Database }) {
  const query = useIntervals(database)
  const now = useNow('minute').getTime()
  const nowMs = now % DAY_MS
  return (
    <Section
      title="Awake today"
      aside="Asleep, only stored bytes cost; it wakes when someone connects."
    >
      <Loaded query={query} what="the day of the database">
        {({ data }) => {
          const spans = spansOf(data, { dayMs: now - nowMs, nowMs: now })
          const awakeMs = lengthOf(spans)
          const words = awakeMs === 0 ? 'Not awake yet today' : `Awake for ${left(awakeMs)}`
          return (
            <div className="stack">
              <DayBand
                spans={spans}
                nowMs={nowMs}
                service="databases"
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
                      <tr key={one.from}>
                        <td>{timeOf(one.from, now)}</td>
                        <td>{one.to === null ? 'now' : timeOf(one.to, now)}</td>
                        <td>{wokenWords(one)}</td>
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
