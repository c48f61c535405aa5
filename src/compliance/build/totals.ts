// The sums of a pack, from the charges themselves: by what was used, by meter, by factor, by price.
import { printDecimal } from '#base/units.ts'
import type { CarbonFactor, Charge, ChargePart } from '#contract/ledger/charge.ts'
import { carbonOfParts } from '#contract/ledger/charge.ts'
import { MEASURED_METHODS } from '#contract/ledger/known.ts'
import { isRequest, serviceOf } from '#contract/operations.ts'
import { csvLine } from '#ledger/ledger-csv.ts'
import { PackFault } from './pack-work.ts'

/** Rows of totals.csv: some hundred bytes of memory each. */
export const TOTALS_ROWS_MAX = 200_000

export const TOTALS_KEYS = [
  'month',
  'service',
  'operation',
  'model',
  'region',
  'routed_to',
  'token',
  'resource',
] as const
const FIGURES = [
  'charges',
  'requests',
  'energy_nj',
  'band_pct',
  'measured_nj',
  'carbon_pg',
  'charge_pusd',
] as const

/** PackSums of charges. `bandWeight` is nJ times the percent of the band, of each part. */
export type PackSums = {
  charges: bigint
  requests: bigint
  energy: bigint
  bandWeight: bigint
  measured: bigint
  carbon: bigint
  money: bigint
}

export type Totals = {
  readonly all: PackSums
  readonly groups: ReadonlyMap<string, PackSums>
  readonly meters: ReadonlyMap<string, MeterSums>
  readonly factors: ReadonlyMap<string, FactorSums>
  readonly prices: ReadonlyMap<string, PriceSums>
  readonly pues: ReadonlySet<string>
  readonly operations: ReadonlySet<string>
  add(charge: Charge): void
}

export type MeterSums = Pick<ChargePart, 'meter' | 'method' | 'band_pct'> & { energy: bigint }
export type FactorSums = {
  readonly factor: CarbonFactor
  readonly elsewhere: boolean
  energy: bigint
  carbon: bigint
}
export type PriceSums = Pick<Charge, 'price_id' | 'pusd_per_j' | 'unit' | 'free'> & {
  energy: bigint
  money: bigint
}

export function createTotals(): Totals {
  const totals = {
    all: noSums(),
    groups: new Map<string, PackSums>(),
    meters: new Map<string, MeterSums>(),
    factors: new Map<string, FactorSums>(),
    prices: new Map<string, PriceSums>(),
    pues: new Set<string>(),
    operations: new Set<string>(),
  }
  return {
    ...totals,
    add(charge) {
      const group = entryOf(totals.groups, groupOf(charge), noSums)
      if (totals.groups.size > TOTALS_ROWS_MAX)
        throw new PackFault(
          `Its totals have more than ${TOTALS_ROWS_MAX} rows: ask for a shorter time`,
        )
      for (const sums of [totals.all, group]) addTo(sums, charge)
      for (const part of charge.parts) addPart(totals, charge, part)
      const { price_id, pusd_per_j, unit, free } = charge
      const kind = { price_id, pusd_per_j, unit, free }
      const price = entryOf(totals.prices, JSON.stringify(kind), () => ({
        ...kind,
        energy: 0n,
        money: 0n,
      }))
      price.energy += BigInt(charge.energy_nj)
      price.money += BigInt(charge.charge_pusd)
      // Carbon here is rounded once for all parts, as in the charge.
      const here = charge.parts.filter(({ factor }) => factor === undefined)
      factorOf(totals, charge.factor, false).carbon += carbonOfParts(
        here,
        BigInt(charge.factor.mg_per_kwh),
      )
      totals.pues.add(charge.pue_milli)
      totals.operations.add(charge.operation)
    },
  }
}

type Maps = {
  readonly meters: Map<string, MeterSums>
  readonly factors: Map<string, FactorSums>
}

function addPart(maps: Maps, charge: Charge, part: ChargePart): void {
  const { meter, method, band_pct } = part
  const kind = { meter, method, band_pct }
  const energy = BigInt(part.energy_nj)
  entryOf(maps.meters, JSON.stringify(kind), () => ({ ...kind, energy: 0n })).energy += energy
  const factor = factorOf(maps, part.factor ?? charge.factor, part.factor !== undefined)
  factor.energy += energy
  if (part.factor !== undefined) factor.carbon += carbonOfParts([part], 0n)
}

const factorOf = ({ factors }: Pick<Maps, 'factors'>, factor: CarbonFactor, elsewhere: boolean) =>
  entryOf(factors, JSON.stringify([factor, elsewhere]), () => ({
    factor,
    elsewhere,
    energy: 0n,
    carbon: 0n,
  }))

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

const noSums = (): PackSums => ({
  charges: 0n,
  requests: 0n,
  energy: 0n,
  bandWeight: 0n,
  measured: 0n,
  carbon: 0n,
  money: 0n,
})

function addTo(sums: PackSums, charge: Charge): void {
  sums.charges++
  if (isRequest(charge.operation)) sums.requests += BigInt(charge.requests ?? 1)
  sums.energy += BigInt(charge.energy_nj)
  sums.carbon += BigInt(charge.carbon_pg)
  sums.money += BigInt(charge.charge_pusd)
  for (const { energy_nj: energy, band_pct: band, method } of charge.parts) {
    sums.bandWeight += BigInt(energy) * BigInt(band)
    if (MEASURED_METHODS.includes(method)) sums.measured += BigInt(energy)
  }
}

const groupOf = (charge: Charge): string =>
  JSON.stringify([
    charge.to.slice(0, 7),
    serviceOf(charge.operation),
    charge.operation,
    charge.model ?? '',
    regionOf(charge.routed_to),
    charge.routed_to,
    charge.token ?? '',
    charge.resource ?? '',
  ])

/** `operator/region/silicon` */
const regionOf = (routedTo: string): string => routedTo.split('/')[1] ?? ''

/** The band of a sum: those of its parts, weighted by energy; three decimals at most. */
export const bandPct = ({ energy, bandWeight }: PackSums): string =>
  energy === 0n ? '0' : printDecimal((bandWeight * 1000n) / energy, 3)

export function totalsCsv({ groups }: Totals): string {
  const lines = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, sums]) =>
      csvLine([
        ...(JSON.parse(key) as string[]),
        sums.charges.toString(),
        sums.requests.toString(),
        sums.energy.toString(),
        bandPct(sums),
        sums.measured.toString(),
        sums.carbon.toString(),
        sums.money.toString(),
      ]),
    )
  return [csvLine([...TOTALS_KEYS, ...FIGURES]), ...lines].join('')
}
