// Sums of bundled charges by a step of time and the groups of readers. A bundle keeps those by the hour.
import type { BundledCharge } from './bundled-charge.ts'

const HOUR_DIGITS = 'YYYY-MM-DDTHH'.length
const MINUTE_DIGITS = 'YYYY-MM-DDTHH:MM'.length

/** As a bundle keeps it. `resource` is '' of charges without. */
export type BundleSum = readonly [
  at: string,
  operation: string,
  model: string,
  token: string,
  resource: string,
  requests: string,
  energyNj: string,
  carbonPg: string,
  chargePusd: string,
  measuredNj: string,
  /** The energy times the band of each part in percent. Not in bundles that were made before it was kept. */
  bandWeight?: string,
]

/** The hour of a time, as the sums of a bundle name it. */
export const hourOf = (at: Date): string => `${at.toISOString().slice(0, HOUR_DIGITS)}:00:00.000Z`
const minuteOf = (at: Date): string => `${at.toISOString().slice(0, MINUTE_DIGITS)}:00.000Z`

/** The sums of charges, in the order in which their keys first come. */
export function sumCharges(
  charges: Iterable<BundledCharge>,
  step: 'hour' | 'minute' = 'hour',
): BundleSum[] {
  const stepOf = step === 'hour' ? hourOf : minuteOf
  const groups = new Map<string, { readonly keys: readonly string[]; readonly sums: bigint[] }>()
  for (const charge of charges) {
    const keys = [
      stepOf(charge.at),
      charge.operation,
      charge.value('model') ?? '',
      charge.value('token') ?? '',
      charge.resource ?? '',
    ]
    const added = [
      1n,
      charge.energyNj,
      charge.carbonPg,
      charge.chargePusd,
      charge.measuredNj,
      charge.bandWeight,
    ]
    const key = JSON.stringify(keys)
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { keys, sums: added })
    else
      for (const [nth, amount] of added.entries())
        known.sums[nth] = (known.sums[nth] ?? 0n) + amount
  }
  return [...groups.values()].map(
    ({ keys, sums }) => [...keys, ...sums.map(String)] as unknown as BundleSum,
  )
}

/** The fields of a sum before bands were kept. */
const UNBANDED = 10

/** Sums as a bundle of that time would keep them. */
export const sumsAs = (
  kept: readonly BundleSum[] | null,
  sums: readonly BundleSum[],
): readonly BundleSum[] | null =>
  kept?.every(({ length }) => length === UNBANDED) === true
    ? sums.map((sum) => sum.slice(0, UNBANDED) as unknown as BundleSum)
    : kept && sums
