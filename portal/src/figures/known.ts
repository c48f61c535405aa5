// The origin of a figure: its method in a word, its band, and the digits that the band vouches for. The rule of words and
// bands is that of the API.
import {
  bandOfParts,
  bandOfWeight,
  knownBy,
  knownOfSum,
  type EnergyOrigin,
  type KnownPart,
} from '#contract/ledger/known.ts'
import { decimal } from './digits.ts'
import { joules, registerDigits } from './energy.ts'

export { knownBy }

/** The origin of a figure; `bandPct` is the declared error in percent, undefined where the API does not give it. */
export type How = { readonly known: EnergyOrigin; readonly bandPct: number | undefined }
export type Figure = How & { readonly nj: bigint }
type Banded = Pick<Figure, 'nj' | 'bandPct'>

/** The power of ten of a joule in nanojoules. */
const JOULE = 9

/** The origin of a charge, a part or a meter, as the API writes it. */
export const howOf = (origin: {
  readonly method: string | null | undefined
  readonly band_pct: string | number | null | undefined
}): How => ({
  known: knownBy(origin.method ?? ''),
  bandPct: origin.band_pct == null ? undefined : Number(origin.band_pct),
})

/** The figure of a charge, by its parts. */
export function figureOf(parts: readonly KnownPart[]): Figure {
  const { method, bandPct } = bandOfParts(parts)
  const nj = parts.reduce((sum, { energy_nj }) => sum + BigInt(energy_nj), 0n)
  return { nj, known: knownBy(method), bandPct }
}

/** A sum of charges, as the usage of the API gives it. */
export type ChargedSum = {
  readonly energy_nj: string
  /** The part of the energy that a sensor read. */
  readonly measured_nj: string
  /** Null or absent where it is not known of every charge. */
  readonly band_pct?: number | null | undefined
}

/** The figure of sums: bands weighted by energy and rounded up. */
export function figureOfSums(sums: readonly ChargedSum[]): Figure {
  const nj = sums.reduce((sum, { energy_nj }) => sum + BigInt(energy_nj), 0n)
  const measuredNj = sums.reduce((sum, { measured_nj }) => sum + BigInt(measured_nj), 0n)
  const known = knownOfSum({ nj, measuredNj })
  let weight = 0n
  for (const { energy_nj, band_pct: band } of sums) {
    if (band === null || band === undefined) return { nj, known, bandPct: undefined }
    weight += BigInt(energy_nj) * BigInt(band)
  }
  return { nj, known, bandPct: bandOfWeight(nj, weight) }
}

/** The ends of the band, the high one rounded up. The band of a figure of more than 100 % begins at zero. */
export function bandOf({ nj, bandPct }: Banded): readonly [bigint, bigint] {
  const pct = bandPct ?? 100
  const low = (nj * BigInt(Math.max(0, 100 - pct))) / 100n
  return [low, (nj * BigInt(100 + pct) + 99n) / 100n]
}

/** Digits of the smaller end that is not zero. */
const BAND_DIGITS = 2

/** The ends in joules, as on a receipt: 0.21 and 0.51. The low end is cut off, and the high end is rounded up. */
export function bandWords(figure: Banded): readonly [string, string] {
  const [low, high] = bandOf(figure)
  if (low === high) return [joules(low), joules(high)]
  const digits = (low === 0n ? high : low).toString().length
  const decimals = Math.min(JOULE, Math.max(0, JOULE + BAND_DIGITS - digits))
  const step = 10n ** BigInt(JOULE - decimals)
  return [decimal(low, JOULE, decimals), decimal(high + step - 1n, JOULE, decimals)]
}

/** The digits of a register: `heavy` are vouched for, `light` ones are billed and lie inside the band. */
export type Digits = { readonly heavy: string; readonly light: string }

/** Heavy are the digits, aligned at the point, that both ends of the band share, and one more. */
export const registerOf = (figure: Banded): Digits => splitAt(registerDigits(figure.nj), figure)

/** The same split of all nine decimals, for tables. */
export const exactDigits = (figure: Banded): Digits => splitAt(joules(figure.nj), figure)

function splitAt(text: string, figure: Banded): Digits {
  // Nothing vouches for a digit of a figure without a band.
  if (figure.bandPct === undefined) return { heavy: '', light: text }
  if (figure.bandPct === 0 || figure.nj === 0n) return { heavy: text, light: '' }
  const [low, high] = bandOf(figure).map((nj) => nj.toString())
  const width = Math.max((high ?? '').length, 10)
  const [one, other] = [low ?? '', high ?? ''].map((digits) => digits.padStart(width, '0'))
  let shared = 0
  while (shared < width && one?.[shared] === other?.[shared]) shared++
  // The text begins with the digit of joules, or with that of its own highest power.
  const skipped = width - Math.max(figure.nj.toString().length, 10)
  const heavyDigits = Math.max(1, shared + 1 - skipped)
  return cutAfter(text, heavyDigits)
}

/** Cuts after so many digits; commas and points are no digits, and go with what follows. */
function cutAfter(text: string, digits: number): Digits {
  let at = 0
  for (let left = digits; at < text.length && left > 0; at++) if (/\d/.test(text[at] ?? '')) left--
  return { heavy: text.slice(0, at), light: text.slice(at) }
}

/** modelled, ±40 % */
export const knownWords = ({ known, bandPct }: How): string =>
  hasBand(bandPct) ? `${known}, ±${bandPct}\u00a0%` : known

const hasBand = (bandPct: number | undefined): boolean => bandPct !== undefined && bandPct > 0

/** For screen readers: 0.358035898 joules, modelled, plus or minus 40 percent. */
export const spoken = (figure: Figure): string =>
  `${joules(figure.nj)} joules, ${figure.known}${
    hasBand(figure.bandPct) ? `, plus or minus ${figure.bandPct} percent` : ''
  }`
