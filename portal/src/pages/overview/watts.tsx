// Watts of the last 15 minutes by service, as a chart or as a table.
import { useState } from 'react'
import { power } from '#console/figures/energy.ts'
import { clock } from '#console/figures/time.ts'
import type { PowerPoint } from '#console/live/state.ts'
import { useLive } from '#console/live/use-live.ts'
import { Known } from '#console/parts/energy/known.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { serviceName } from '#console/parts/charts/services.ts'
import { Stacked } from '#console/parts/charts/stacked.tsx'
import { useZone } from '#console/parts/time/zone.ts'
import { MINUTE_MS, SPAN_MS } from './minute-points.ts'
import { usePowerHistory } from './power-history.ts'

const LABEL = 'Watts of the last 15 minutes by service; the table has the same figures'

export function Watts() {
  const [isTable, setTable] = useState(false)
  const figure = useLive(({ meter }) => meter)
  const zone = useZone()
  const [openedMs] = useState(() => Date.now())
  const history = usePowerHistory(openedMs)
  const toMs = history.at(-1)?.atMs ?? openedMs
  const clockOf = (ms: number) => clock(new Date(ms), zone).slice(0, 5)
  return (
    <Section
      title="Watts, last 15 minutes"
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
          fromMs={toMs - SPAN_MS}
          toMs={toMs}
          clockOf={clockOf}
          label={LABEL}
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
