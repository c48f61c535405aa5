// The rule that says how energy is known, for a part, a charge and a sum of charges: measured only where a sensor read
// all of it. No figure looks better known than it is. Pages load this file too: it imports nothing that runs.
import type { ChargePart, EnergyBand, EnergyMethod } from './charge.ts'

/** Read by a sensor, modelled by Ergon, or declared by an upstream. */
export type EnergyOrigin = 'measured' | 'modelled' | 'declared'

const KNOWN_BY: Readonly<Record<EnergyMethod, EnergyOrigin>> = {
  rapl: 'measured',
  plug: 'measured',
  redfish: 'measured',
  nvml: 'measured',
  model: 'modelled',
  declared: 'declared',
  learned: 'modelled',
}
const WORDS: ReadonlyMap<string, EnergyOrigin> = new Map(Object.entries(KNOWN_BY))

/** The word of a method. Methods of a later version count as modelled. */
export const knownBy = (method: string): EnergyOrigin => WORDS.get(method) ?? 'modelled'

/** The methods of a sensor's reading. */
export const MEASURED_METHODS: readonly string[] = [...WORDS.keys()].filter(
  (method) => knownBy(method) === 'measured',
)

export type KnownPart = Pick<ChargePart, 'method' | 'band_pct' | 'energy_nj'>

/**
 * The method and the band of a charge. The method is that of most of the energy that no sensor read, or of most energy
 * where a sensor read all. The band is that of the parts, weighted by energy and rounded up. So the word of this method
 * is the word of the charge.
 */
export function bandOfParts(parts: readonly KnownPart[]): EnergyBand {
  const byMethod = new Map<EnergyMethod, bigint>()
  let [energy, weight] = [0n, 0n]
  for (const { method, band_pct: band, energy_nj: text } of parts) {
    const part = BigInt(text)
    if (part === 0n) continue
    energy += part
    weight += part * BigInt(band)
    byMethod.set(method, (byMethod.get(method) ?? 0n) + part)
  }
  const unread = [...byMethod].filter(([method]) => knownBy(method) !== 'measured')
  const [most] = (unread.length > 0 ? unread : [...byMethod]).toSorted(([, one], [, other]) =>
    one < other ? 1 : -1,
  )
  return { method: most?.[0] ?? parts[0]?.method ?? 'model', bandPct: bandOfWeight(energy, weight) }
}

/**
 * The certainty of a sum of charges. A sum does not keep which charges were declared, so what no sensor read counts as
 * modelled.
 */
export const knownOfSum = (sum: {
  readonly nj: bigint
  readonly measuredNj: bigint
}): EnergyOrigin => (sum.nj > 0n && sum.measuredNj === sum.nj ? 'measured' : 'modelled')

/** The band of energy in percent, rounded up. `weight` is the energy of each part times its band. */
export const bandOfWeight = (nj: bigint, weight: bigint): number =>
  nj === 0n ? 0 : Number((weight + nj - 1n) / nj)
