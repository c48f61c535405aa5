// A stacked chart of power over time: areas parted by a line, labels at the right edge, zero at the bottom. Drawn as
// SVG of the size that it has, so text is never scaled and colours follow the theme.
import { useLayoutEffect, useRef, useState } from 'react'
import type { PowerPoint } from '#console/live/state.ts'
import { runsOf } from './runs.ts'
import { drawnAs, SERVICES, serviceName, type ServiceName } from './services.ts'
import './stacked.css'

const HEIGHT = 250
const BOX = { left: 44, right: 112, top: 14, bottom: 26 }
const LABEL_PX = 20
const NJ_PER_J = 1e9

type Area = { readonly service: ServiceName; readonly path: string; readonly endY: number }

export function Stacked(props: {
  readonly points: readonly PowerPoint[]
  readonly fromMs: number
  readonly toMs: number
  readonly clockOf: (ms: number) => string
  readonly label: string
}) {
  const { points, fromMs, toMs, clockOf, label } = props
  const [frame, width] = useWidth()
  const right = width - BOX.right
  const top = ticksOf(Math.max(...points.map(totalWatts), 0))
  const x = (ms: number) => BOX.left + ((ms - fromMs) / (toMs - fromMs)) * (right - BOX.left)
  const y = (watts: number) =>
    HEIGHT - BOX.bottom - (watts / (top.at(-1) ?? 1)) * (HEIGHT - BOX.bottom - BOX.top)
  const runs = runsOf(points).map((run) => areasOf(run, x, y))
  const last = runs.at(-1) ?? []
  return (
    <div className="stacked" ref={frame}>
      <svg width={width} height={HEIGHT} role="img" aria-label={label}>
        {top.map((watts) => (
          <g key={watts}>
            <path
              className={watts === 0 ? 'zero' : 'grid'}
              d={`M${BOX.left} ${y(watts)}H${right}`}
            />
            <text x={BOX.left - 8} y={y(watts) + 4} textAnchor="end">
              {watts}
            </text>
          </g>
        ))}
        {runs.flatMap((areas, nth) =>
          areas.map(({ service, path }) => (
            <path key={`${service} ${nth}`} className={`area ${service}`} d={path} />
          )),
        )}
        {[0, 1, 2, 3].map((nth) => {
          const ms = fromMs + ((toMs - fromMs) * nth) / 3
          return (
            <text
              key={nth}
              x={x(ms)}
              y={HEIGHT - 6}
              textAnchor={nth === 0 ? 'start' : nth === 3 ? 'end' : 'middle'}
            >
              {clockOf(ms)}
            </text>
          )
        })}
        <Labels areas={last} x={right} />
      </svg>
    </div>
  )
}

/** Names at the right edge, moved apart where areas are thin, each tied to its area. */
function Labels({ areas, x }: { readonly areas: readonly Area[]; readonly x: number }) {
  let free = HEIGHT - BOX.bottom + 4
  return areas.map(({ service, endY }) => {
    const at = Math.min(endY, free)
    free = at - LABEL_PX
    return (
      <g key={service} className={`label ${service}`}>
        <path d={`M${x + 3} ${endY}L${x + 14} ${at}`} />
        <rect x={x + 16} y={at - 5} width="9" height="9" />
        <text x={x + 30} y={at + 4}>
          {serviceName(service)}
        </text>
      </g>
    )
  })
}

function areasOf(
  points: readonly PowerPoint[],
  x: (ms: number) => number,
  y: (watts: number) => number,
): Area[] {
  const present = SERVICES.filter((service) => points.some((point) => wattsOf(point, service) > 0))
  let below = points.map(() => 0)
  return present.map((service) => {
    const above = points.map((point, nth) => (below[nth] ?? 0) + wattsOf(point, service))
    const line = (heights: readonly number[]) =>
      points.map(({ atMs }, nth) => `${x(atMs).toFixed(1)} ${y(heights[nth] ?? 0).toFixed(1)}`)
    const path = `M${[...line(above), ...line(below).toReversed()].join('L')}Z`
    const endY = (y(above.at(-1) ?? 0) + y(below.at(-1) ?? 0)) / 2
    below = above
    return { service, path, endY }
  })
}

const wattsOf = ({ by }: PowerPoint, service: ServiceName): number =>
  Object.entries(by).reduce(
    (sum, [name, nj]) => (drawnAs(name) === service ? sum + Number(nj) / NJ_PER_J : sum),
    0,
  )
const totalWatts = ({ by }: PowerPoint): number =>
  Object.values(by).reduce((sum, nj) => sum + Number(nj), 0) / NJ_PER_J

/** Zero, two or three round numbers, and the end of the axis above the largest value. */
export function ticksOf(most: number): number[] {
  const rough = Math.max(most, 0.01) / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const count = Math.ceil(Math.max(most, 0.01) / step)
  return Array.from({ length: count + 1 }, (_, nth) => Number((nth * step).toPrecision(3)))
}

export function useWidth() {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(720)
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const measure = () => setWidth(Math.max(element.clientWidth, 240))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [frame, width] as const
}
