// Marginal carbon of one more kWh, now and in the next hours, for scheduling. It is shown and
// never billed: bills use averages (carbon.ts), and nothing here has their type.
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { MarginalForecast, MarginalSource } from './carbon/watttime.ts'

export type MarginalStatus = {
  readonly source: string
  readonly region: string
  /** Of the point of now; absent while there is no forecast of now. */
  readonly mg_per_kwh?: string
  /** The lowest point from now on. */
  readonly least?: { readonly at: string; readonly mg_per_kwh: string }
  /** Why there is no newer forecast. */
  readonly failure?: string
}

export interface Marginal {
  /** Asks when the last forecast is old: call it about once a minute. A failure is kept for status(). */
  refresh(signal?: AbortSignal): Promise<void>
  status(): MarginalStatus
  close(): Promise<void>
}

// Points are of five minutes, and forecasts are made as often.
const POINT_MS = 5 * 60_000

/** The marginal signal of one region. `region` is the source's own name of it. */
export function createMarginal(deps: {
  readonly source: MarginalSource
  readonly region: string
  readonly clock: Clock
}): Marginal {
  const { source, region, clock } = deps
  let points: MarginalForecast['points'] = []
  let askedMs = Number.NEGATIVE_INFINITY
  let failure: string | undefined = 'not asked yet'
  return {
    async refresh(signal) {
      if (clock.monotonicMs() < askedMs + POINT_MS) return
      try {
        points = (await source.forecast(region, signal)).points
        askedMs = clock.monotonicMs()
        failure = undefined
      } catch (error) {
        if (!(error instanceof ErgonError)) throw error
        failure = error.message
      }
    },
    status: () => ({
      source: source.name,
      region,
      ...figuresOf(points, clock.wallMs()),
      ...(failure === undefined ? {} : { failure }),
    }),
    close: source.close,
  }
}

function figuresOf(
  points: MarginalForecast['points'],
  nowMs: number,
): Pick<MarginalStatus, 'mg_per_kwh' | 'least'> {
  // A point begins before now or, in a forecast that was just made, a moment after it.
  const [now, ...later] = points.filter(({ atMs }) => atMs > nowMs - POINT_MS)
  if (now === undefined || now.atMs > nowMs + POINT_MS) return {}
  const least = later.reduce(
    (lowest, point) => (point.marginalMgPerKwh < lowest.marginalMgPerKwh ? point : lowest),
    now,
  )
  return {
    mg_per_kwh: String(now.marginalMgPerKwh),
    least: { at: new Date(least.atMs).toISOString(), mg_per_kwh: String(least.marginalMgPerKwh) },
  }
}
