// A gauge turns a sensor's readings into energies of windows and quarantines impossible ones. These are a counter
// that fell (reset, reboot), more than the machine can draw (the 53 kW first reading that a known exporter
// publishes), and 0 under load (a forbidden file read as 0). A quarantined reading is never billed: the model
// stands in for that window, and the window gives the reason.
import { isNegative, printDecimal, subtract, type Nj } from '#base/units.ts'
import { energyOfPower, powerOf } from '#metering/power.ts'
import type { BusySpan } from './model.ts'
import { unavailable, type MeterSource, type Reading, type Unavailable } from './source.ts'

export type Gauged = { readonly kind: 'energy'; readonly energyNj: Nj } | Unavailable

export interface Gauge {
  readonly source: MeterSource
  /** The energy of the span that ends with this reading. */
  energyOf(reading: Reading | Unavailable, span: BusySpan): Gauged
}

export function createGauge(source: MeterSource): Gauge {
  let previous: Nj | undefined
  const energyOf = (reading: Reading | Unavailable, span: BusySpan): Gauged => {
    if (reading.kind === 'unavailable') {
      // The next delta would cover this window too, which the model has billed by then.
      previous = undefined
      return reading
    }
    if (reading.kind === 'power')
      return judged(energyOfPower(reading.milliwatts, span.elapsedNs), span)
    const before = previous
    previous = reading.totalNj
    if (before === undefined) return unavailable('no earlier reading to subtract')
    return judged(subtract(reading.totalNj, before), span)
  }
  const judged = (energyNj: Nj, span: BusySpan): Gauged => {
    const doubt = doubtOf(energyNj, span, source.ceilingMilliwatts())
    return doubt === undefined ? { kind: 'energy', energyNj } : unavailable(`quarantined: ${doubt}`)
  }
  return { source, energyOf }
}

/** Why an energy cannot be true, if it cannot. */
function doubtOf(energyNj: Nj, span: BusySpan, ceilingMilliwatts: bigint): string | undefined {
  if (isNegative(energyNj)) return 'the counter fell'
  if (energyNj > energyOfPower(ceilingMilliwatts, span.elapsedNs))
    return `${watts(powerOf(energyNj, span.elapsedNs))} is above ${watts(ceilingMilliwatts)}`
  if (energyNj === 0n && span.busyNs > 0n) return '0 J while the machine was busy'
  return undefined
}

const watts = (milliwatts: bigint) => `${printDecimal(milliwatts, 3)} W`
