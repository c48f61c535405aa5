// Watts of the last 15 minutes by service, as a chart or as a table.
import { useState } from 'react'
import { power } from '../../figures/energy.ts'
import { clock } from '../../figures/time.ts'
import type { PowerPoint } from '../../live/state.ts'
import { useLive } from '../../live/use-live.ts'
import { Known } from '../../parts/known.tsx'
import { Section } from '../../parts/section.tsx'
import { serviceName } from '../../parts/services.ts'
import { Stacked } from '../../parts/stacked.tsx'
import { useNow, useZone } from '../../parts/zone.ts'

const SPAN_MINUTES_MAX = 15
const MINUTE_MS = 60_000

/** The chart begins with the page, and reaches back 15 minutes at most. */
function minutesOf(history: readonly PowerPoint[], toMs: number): number {
  const elapsed = Math.ceil((toMs - (history[0]?.atMs ?? toMs)) / MINUTE_MS)
  return Math.min(SPAN_MINUTES_MAX, Math.max(1, elapsed))
}

export function Watts() {
  const [isTable, setTable] = useState(false)
  const history = useLive((state) => state.history)
  const figure = useLive(({ today }) => today?.figure)
  const zone = useZone()
  const now = useNow('minute')
  const toMs = history.at(-1)?.atMs ?? now.getTime()
  const minutes = minutesOf(history, toMs)
  const words = minutes === 1 ? 'last minute' : `last ${minutes} minutes`
  const clockOf = (ms: number) => clock(new Date(ms), zone).slice(0, minutes < 4 ? 8 : 5)
  return (
    <Section
      title={`Watts, ${words}`}
      aside={
        <span className="tools">
          {figure !== undefined && <Known figure={figure} />}
          <button type="button" className="linked" onClick={() => setTable(!isTable)}>
            {isTable ? 'chart' : 'table'}
          </button>
        </span>
      }
    >
      {isTable ? (
        <MinuteTable history={history} clockOf={clockOf} />
      ) : (
        <Stacked
          points={history}
          fromMs={toMs - minutes * MINUTE_MS}
          toMs={toMs}
          clockOf={clockOf}
          label={`Watts of the ${words} by service; the table has the same figures`}
        />
      )}
    </Section>
  )
}

/** The mean of each minute, the newest first. */
function MinuteTable(props: {
  readonly history: readonly PowerPoint[]
  readonly clockOf: (ms: number) => string
}) {
  const minutes = Object.entries(
    Object.groupBy(props.history, ({ atMs }) => String(Math.floor(atMs / MINUTE_MS))),
  ).toReversed()
  const services = [...new Set(props.history.flatMap(({ by }) => Object.keys(by)))].toSorted()
  const mean = (points: readonly PowerPoint[], service: string) =>
    points.reduce((sum, { by }) => sum + (by[service] ?? 0n), 0n) / BigInt(points.length)
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Minute</th>
          {services.map((service) => (
            <th key={service} scope="col" className="num">
              {serviceName(service)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {minutes.map(([minute, points = []]) => (
          <tr key={minute}>
            <td>{props.clockOf(Number(minute) * MINUTE_MS)}</td>
            {services.map((service) => (
              <td key={service} className="num">
                {power(mean(points, service))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
