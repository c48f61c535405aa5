// The day of a database as a band: the minutes in which its server ran.
import { left } from '../../figures/time.ts'
import { DayBand, minuteOf } from '../../parts/day-band.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Section } from '../../parts/section.tsx'
import { useNow } from '../../parts/zone.ts'
import { awakeSpans, lengthOf, type Database } from './database.ts'
import { useEnergyToday } from './use-databases.ts'

const DAY_MS = 86_400_000

export function Awake({ database }: { readonly database: Database }) {
  const query = useEnergyToday(database)
  const nowMs = useNow('minute').getTime() % DAY_MS
  return (
    <Section
      title="Awake today"
      aside="Asleep, only stored bytes cost; it wakes when someone connects."
    >
      <Loaded query={query} what="the energy of the day">
        {(energy) => {
          const spans = awakeSpans(energy)
          const words = spans.length === 0 ? 'Not awake yet today' : left(lengthOf(spans))
          return (
            <div className="stack">
              <DayBand
                spans={spans}
                nowMs={nowMs}
                service="databases"
                label={`Awake ${spans.length === 0 ? 'at no time' : left(lengthOf(spans))} today, by minutes of UTC`}
              />
              <details className="small">
                <summary>{words}, by the minutes that its server was charged</summary>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">From, UTC</th>
                      <th scope="col">To</th>
                      <th scope="col" className="num">
                        Awake for
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {spans.map(({ fromMs, toMs }) => (
                      <tr key={fromMs}>
                        <td>{minuteOf(fromMs)}</td>
                        <td>{minuteOf(toMs)}</td>
                        <td className="num">{left(toMs - fromMs)}</td>
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
