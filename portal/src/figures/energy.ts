// Energy and power as text. Energy comes in nanojoules, power in nanojoules a second.
import { decimal, NBSP, threeDigits, type Scale } from './digits.ts'

const ENERGY: readonly Scale[] = [
  { unit: 'TJ', exponent: 21 },
  { unit: 'GJ', exponent: 18 },
  { unit: 'MJ', exponent: 15 },
  { unit: 'kJ', exponent: 12 },
  { unit: 'J', exponent: 9 },
  { unit: 'mJ', exponent: 6 },
  { unit: 'µJ', exponent: 3 },
  { unit: 'nJ', exponent: 0 },
]
const JOULE = 9
/** From this energy on the register shows three decimals: nine would not fit, and none of them is known. */
const REGISTER_SHORT_NJ = 100_000_000_000n
const WATT = 1_000_000_000n
const MILLIWATT = 1_000_000n

/** For lists: 358 mJ. */
export const energyShort = (nj: bigint): string =>
  nj === 0n ? `0${NBSP}J` : threeDigits(nj, ENERGY)

/** For the rest of an amount: it is cut off, and never looks larger than it is. */
export const energyLeft = (nj: bigint): string =>
  nj === 0n ? `0${NBSP}J` : threeDigits(nj, ENERGY, true)

/** For details, copies and hover: 0.358035898 J. */
export const energyExact = (nj: bigint): string => `${joules(nj)}${NBSP}J`

/** The exact digits, without the unit. */
export const joules = (nj: bigint): string => decimal(nj, JOULE, 9)

/** The digits of the register: nine decimals, three from 100 J on. */
export const registerDigits = (nj: bigint): string =>
  decimal(nj, JOULE, nj >= REGISTER_SHORT_NJ ? 3 : 9)

/** 0.874 W, 2.64 W, 1.2 kW; it is 0 W only of nothing. */
export function power(njPerS: bigint): string {
  if (njPerS === 0n) return `0${NBSP}W`
  if (njPerS < MILLIWATT / 2n) return `under 0.001${NBSP}W`
  if (njPerS < WATT) return `${decimal(njPerS + 500_000n, JOULE, 3)}${NBSP}W`
  return threeDigits(njPerS, [
    { unit: 'MW', exponent: 15, decimalsMax: 1 },
    { unit: 'kW', exponent: 12, decimalsMax: 1 },
    { unit: 'W', exponent: 9 },
  ])
}
