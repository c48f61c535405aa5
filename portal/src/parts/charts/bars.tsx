// Joules by step and service as stacked bars. A part of the time can be dragged; what the page has beside them does the
// same by keyboard.
import { energyShort } from '#console/figures/energy.ts'
import { day as dayOf, clock } from '#console/figures/time.ts'
import { drawnAs, SERVICES, type ServiceName } from './services.ts'
import { ticksOf, useWidth } from './stacked.tsx'
import { useNow, useZone } from '#console/parts/time/zone.ts'
import { STEP_MS, type Range } from './range.ts'
import { useDrag } from './use-drag.ts'
import './bars.css'

const HEIGHT = 220
const BOX = { left: 56, right: 12, top: 12, bottom: 26 }
const NJ_PER_J = 1e9

/** The energy of a step; `group` is a service. */
export type BarRow = {
  readonly at?: string | undefined
  readonly group?: string | null | undefined
  readonly energy_nj: string
}

export function Bars(props: {
  readonly rows: readonly BarRow[]
  readonly range: Range
  readonly label: string
  /** A part that was dragged. */
  readonly onDragged?: (fromMs: number, toMs: number) => void
}) {
  const { rows, range, onDragged } = props
  const [frame, width] = useWidth()
  const zone = useZone()
  const now = useNow('minute')
  const bars = barsOf(rows)
  const totals = [...bars.values()].map((bar) =>
    Object.values(bar).reduce((sum, joules) => sum + joules, 0),
  )
  const ticks = ticksOf(Math.max(...totals, 0))
  const top = ticks.at(-1) ?? 1
  const span = range.toMs - range.fromMs
  const x = (ms: number) => BOX.left + ((ms - range.fromMs) / span) * (width - BOX.left - BOX.right)
  const y = (joules: number) =>
    HEIGHT - BOX.bottom - (joules / top) * (HEIGHT - BOX.bottom - BOX.top)
  const msOf = (px: number) =>
    range.fromMs + ((px - BOX.left) / (width - BOX.left - BOX.right)) * span
  const drag = useDrag((from, to) => onDragged?.(msOf(from), msOf(to)))
  const label = (ms: number) =>
    range.step === 'day' ? dayOf(new Date(ms), zone, now) : clock(new Date(ms), zone).slice(0, 5)
  const barPx = Math.max(1, x(range.fromMs + STEP_MS[range.step]) - BOX.left - 1)
  return (
    <div
      className={onDragged === undefined ? 'stacked bars' : 'stacked bars dragged-on'}
      ref={frame}
    >
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={props.label}
        {...(onDragged !== undefined && drag.handlers)}
      >
        {ticks.map((joules) => (
          <g key={joules}>
            <path
              className={joules === 0 ? 'zero' : 'grid'}
              d={`M${BOX.left} ${y(joules)}H${width - BOX.right}`}
            />
            <text x={BOX.left - 8} y={y(joules) + 4} textAnchor="end">
              {joules === 0 ? '0' : energyShort(BigInt(Math.round(joules * NJ_PER_J)))}
            </text>
          </g>
        ))}
        {[...bars].map(([atMs, bar]) => (
          <Bar key={atMs} bar={bar} x={x(atMs)} width={barPx} y={y} />
        ))}
        {thirdsOf(range).map((ms, nth) => (
          <text
            key={nth}
            x={x(ms)}
            y={HEIGHT - 6}
            textAnchor={nth === 0 ? 'start' : nth === 3 ? 'end' : 'middle'}
          >
            {label(ms)}
          </text>
        ))}
        {drag.span !== undefined && <Dragged span={drag.span} />}
      </svg>
    </div>
  )
}

/** The begin, the end, and two steps between them: a time that begins no bar says nothing. */
const thirdsOf = ({ fromMs, toMs, step }: Range): readonly number[] => {
  const steps = (toMs - fromMs) / STEP_MS[step]
  return [0, 1, 2, 3].map((nth) => fromMs + Math.round((steps * nth) / 3) * STEP_MS[step])
}

type Joules = Partial<Record<ServiceName, number>>

const Dragged = ({ span: [from, to] }: { readonly span: readonly [number, number] }) => (
  <rect
    className="dragged"
    x={Math.min(from, to)}
    y={BOX.top}
    width={Math.abs(to - from)}
    height={HEIGHT - BOX.top - BOX.bottom}
  />
)

/** Joules by service of each step that has any. */
function barsOf(rows: readonly BarRow[]): ReadonlyMap<number, Joules> {
  const bars = new Map<number, Joules>()
  for (const { at, group, energy_nj } of rows) {
    if (at === undefined) continue
    const atMs = new Date(at).getTime()
    const service = drawnAs(group ?? 'other')
    const bar = bars.get(atMs) ?? {}
    bars.set(atMs, { ...bar, [service]: (bar[service] ?? 0) + Number(energy_nj) / NJ_PER_J })
  }
  return bars
}

function Bar(props: {
  readonly bar: Joules
  readonly x: number
  readonly width: number
  readonly y: (joules: number) => number
}) {
  const { bar, x, width, y } = props
  let below = 0
  return SERVICES.map((service) => {
    const joules = bar[service] ?? 0
    const [low, high] = [y(below), y(below + joules)]
    below += joules
    return joules === 0 ? null : (
      <rect
        key={service}
        className={`area ${service}`}
        x={x}
        y={high}
        width={width}
        height={low - high}
      />
    )
  })
}
