// Methods and bands of charges as sums that can be added: the energy of each method, and the energy weighted by its band.
import type { EnergyBand, EnergyMethod } from '#contract/charge.ts'

export type MethodSum = { readonly energyNj: bigint; readonly weighted: bigint }
export type Bands = ReadonlyMap<EnergyMethod, MethodSum>

/** SQL of the parts of a charge's bytes. */
export const partsOf = (bytes: string): string => `convert_from(${bytes}, 'UTF8')::json -> 'parts'`

/** SQL of a lateral join with the parts as rows. */
export const partRows = (bytes: string): string =>
  `lateral json_to_recordset(${partsOf(bytes)}) as p (method text, energy_nj numeric, band_pct numeric)`

/** SQL: the sums of such rows, by method. */
export const METHOD_SUMS =
  'sum(energy_nj)::text as energy, sum(energy_nj * band_pct)::text as weighted'
export type MethodRow = { method: EnergyMethod; energy: string; weighted: string }

export const bandsOfRows = (rows: readonly MethodRow[]): Bands =>
  new Map(
    rows.map(({ method, energy, weighted }) => [
      method,
      { energyNj: BigInt(energy), weighted: BigInt(weighted) },
    ]),
  )

export function addBands(one: Bands, other: Bands): Bands {
  const sums = new Map(one)
  for (const [method, { energyNj, weighted }] of other) {
    const known = sums.get(method) ?? { energyNj: 0n, weighted: 0n }
    sums.set(method, {
      energyNj: known.energyNj + energyNj,
      weighted: known.weighted + weighted,
    })
  }
  return sums
}

/** The band of an energy; undefined where the sums are not of all of it. */
export function bandOf(bands: Bands, energyNj: bigint): EnergyBand | undefined {
  const sums = [...bands].toSorted(([, one], [, other]) => (one.energyNj < other.energyNj ? 1 : -1))
  if (sums.reduce((total, [, sum]) => total + sum.energyNj, 0n) !== energyNj) return undefined
  const weighted = sums.reduce((total, [, sum]) => total + sum.weighted, 0n)
  const bandPct = energyNj === 0n ? 0 : Number((weighted + energyNj - 1n) / energyNj)
  return { method: sums[0]?.[0] ?? 'model', bandPct }
}
