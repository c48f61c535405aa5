// Carbon-dioxide equivalent as text, from picograms.
import { grouped, NBSP, threeDigits, type Scale } from './digits.ts'

const MASS: readonly Scale[] = [
  { unit: 't', exponent: 18, decimalsMax: 1 },
  { unit: 'kg', exponent: 15, decimalsMax: 1 },
  { unit: 'g', exponent: 12, decimalsMax: 2 },
  { unit: 'mg', exponent: 9 },
  { unit: 'µg', exponent: 6 },
  { unit: 'ng', exponent: 3 },
  { unit: 'pg', exponent: 0 },
]

/** For lists: 47.0 µg CO₂e. */
export const carbonShort = (pg: bigint): string =>
  `${pg === 0n ? `0${NBSP}g` : threeDigits(pg, MASS)}${NBSP}CO₂e`

/** 47,041,938 pg. */
export const carbonExact = (pg: bigint): string => `${grouped(pg)}${NBSP}pg`
