// The carbon factor of now: an adapter's while it is valid, else the built-in table's, and each says
// which it is. Reading it never waits: charges are priced on the hot path, a timer refreshes.
import { fault } from '#contract/errors.ts'
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { CarbonFactor } from '#contract/ledger/charge.ts'
import {
  ASSUMED_BASIS,
  createCarbonTable,
  TABLE_BASIS,
  TABLE_SOURCE,
  WORLD,
} from './carbon-table.ts'

/** Average carbon intensity of a zone. Marginal signals are another type: they are never billed. */
export type CarbonReading = {
  /** The zone that the figure is of, which is not always the zone that was asked for. */
  readonly zone: string
  readonly mgPerKwh: bigint
  readonly source: string
  readonly year: number
  /** Period, kind and system boundary in words joined by hyphens; `assumed` where the zone is not known. */
  readonly basis: string
  readonly lifecycle: boolean
  readonly estimated: boolean
  readonly validUntilMs: number
}

/** A source of current figures. Rejects with upstream_failed or upstream_timeout. */
export interface CarbonAdapter {
  readonly name: string
  read(
    asked: { readonly zone: string; readonly atMs: number },
    signal?: AbortSignal,
  ): Promise<CarbonReading>
  close(): Promise<void>
}

export type CarbonStatus = CarbonFactor & {
  readonly estimated: boolean
  readonly lifecycle: boolean
  /** Why the adapter's figure is not the one in use. */
  readonly fallback?: string
}

export interface Carbon {
  /** The factor of now, for a charge. */
  current(): CarbonReading
  /**
   * Asks the adapter when its figure has run out: call it about once a minute. A failure is kept for
   * status() while the table serves.
   */
  refresh(signal?: AbortSignal): Promise<void>
  status(): CarbonStatus
  close(): Promise<void>
}

/**
 * Carbon of one zone. Throws ErgonError `zone_unknown` for a zone that the table does not know when
 * there is no adapter that might: a misspelt zone must not become the mean of the world.
 */
export function createCarbon(deps: {
  readonly zone: string
  readonly adapter?: CarbonAdapter
  readonly clock: Clock
}): Carbon {
  const { zone, adapter, clock } = deps
  const table = fromTable(zone)
  if (adapter === undefined && table.zone !== zone)
    throw fault('zone_unknown', `No carbon figure is built in for the zone: "${zone}"`)
  let cached: CarbonReading | undefined
  let failure = adapter === undefined ? undefined : `${adapter.name}: not asked yet`

  const isValid = (reading: CarbonReading) => clock.wallMs() < reading.validUntilMs
  const current = () => (cached !== undefined && isValid(cached) ? cached : table)
  const fallback = () => {
    if (adapter === undefined || current() !== table) return {}
    return { fallback: failure ?? `${adapter.name}: the last figure has run out` }
  }
  return {
    current,
    async refresh(signal) {
      if (adapter === undefined || current() !== table) return
      try {
        cached = await adapter.read({ zone, atMs: clock.wallMs() }, signal)
        failure = undefined
      } catch (error) {
        if (!(error instanceof ErgonError)) throw error
        failure = `${adapter.name}: ${error.message}`
      }
    },
    status() {
      const reading = current()
      const { estimated, lifecycle } = reading
      return { ...factorOf(reading), estimated, lifecycle, ...fallback() }
    },
    close: async () => adapter?.close(),
  }
}

export const ZONES: readonly string[] = [...createCarbonTable().keys()]

/** True when the table has a zone's own figure. */
export const zoneKnown = (zone: string): boolean => ZONES.includes(zone)

/** The form that a charge carries. */
export const factorOf = (reading: CarbonReading): CarbonFactor => ({
  zone: reading.zone,
  mg_per_kwh: String(reading.mgPerKwh),
  source: reading.source,
  year: String(reading.year),
  basis: reading.basis,
})

/** The table's factor of a zone; of the world, labelled as assumed, where it is not known or not said. */
export const yearlyFactor = (zone = WORLD): CarbonFactor => factorOf(fromTable(zone))

/** The zone's row, else its country's (US for US-CAL-CISO), else the world's, labelled as assumed. */
function fromTable(asked: string): CarbonReading {
  const table = createCarbonTable()
  const country = asked.split('-')[0] ?? asked
  const zone = [asked, country].find((name) => table.has(name)) ?? WORLD
  const row = table.get(zone)
  if (row === undefined) throw new RangeError(`No row in the carbon table: ${zone}`)
  return {
    zone,
    ...row,
    source: TABLE_SOURCE,
    basis: zone === WORLD ? ASSUMED_BASIS : TABLE_BASIS,
    lifecycle: true,
    estimated: false,
    validUntilMs: Number.POSITIVE_INFINITY,
  }
}
