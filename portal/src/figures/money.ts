// Money as text, from pico-dollars. Cents are rounded down: a balance never looks larger than it is.
import { decimal, NBSP, threeDigits, type Scale } from './digits.ts'

const DOLLAR = 12
const CENT_PUSD = 10_000_000_000n
const SMALL: readonly Scale[] = [
  { unit: 'm$', exponent: 9 },
  { unit: 'µ$', exponent: 6 },
  { unit: 'n$', exponent: 3 },
  { unit: 'p$', exponent: 0 },
]
export type MoneyUnit = 'USD' | 'tUSD'

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)
const signed = (pusd: bigint, text: string): string => (pusd < 0n ? `−${text}` : text)

/** For lists: $4.98 from a cent up, 2.65 µ$ below. */
export function moneyShort(pusd: bigint): string {
  if (pusd === 0n) return '$0'
  const size = absolute(pusd)
  return signed(pusd, size >= CENT_PUSD ? `$${decimal(size, DOLLAR, 2)}` : threeDigits(size, SMALL))
}

/** To the pico-dollar: $0.000000024863. */
export const moneyExact = (pusd: bigint): string =>
  signed(pusd, `$${decimal(absolute(pusd), DOLLAR, DOLLAR)}`)

/** A balance: $4.98, or 4.98 tUSD of test money. */
export const balanceShort = (pusd: bigint, unit: MoneyUnit): string =>
  ofUnit(decimal(pusd, DOLLAR, 2), unit)

/** A balance to the pico-dollar. */
export const balanceExact = (pusd: bigint, unit: MoneyUnit): string =>
  ofUnit(decimal(pusd, DOLLAR, DOLLAR), unit)

function ofUnit(digits: string, unit: MoneyUnit): string {
  if (unit === 'tUSD') return `${digits}${NBSP}tUSD`
  return digits.startsWith('−') ? `−$${digits.slice(1)}` : `$${digits}`
}
