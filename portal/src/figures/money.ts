// Money as text, from pico-dollars. Cents are rounded down: a balance never looks larger than it is.
import { decimal, NBSP, threeDigits, type Scale } from './digits.ts'

const DOLLAR = 12
const CENT_PUSD = 10_000_000_000n
const NEAR_PUSD = CENT_PUSD / 10n
const SMALL: readonly Scale[] = [
  { unit: 'm$', exponent: 9 },
  { unit: 'µ$', exponent: 6 },
  { unit: 'n$', exponent: 3 },
  { unit: 'p$', exponent: 0 },
]
export type MoneyUnit = 'USD' | 'tUSD'

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** For lists: $4.98 from a cent up, 2.65 µ$ below; of test money 4.98 tUSD and 2.65 µtUSD. */
export function moneyShort(pusd: bigint, unit: MoneyUnit = 'USD'): string {
  if (pusd === 0n) return unit === 'tUSD' ? `0${NBSP}tUSD` : '$0'
  const size = absolute(pusd)
  const text =
    size >= CENT_PUSD
      ? ofUnit(decimal(size, DOLLAR, 2), unit)
      : threeDigits(size, SMALL).replace('$', unit === 'tUSD' ? 'tUSD' : '$')
  return pusd < 0n ? `−${text}` : text
}

/** To the pico-dollar: $0.000000024863, or 0.000000024863 tUSD of test money. */
export const moneyExact = (pusd: bigint, unit: MoneyUnit = 'USD'): string =>
  balanceExact(pusd, unit)

/**
 * A balance: $4.98, or 4.98 tUSD of test money. The cents are cut off; where less than a tenth of a cent lacks to the next,
 * as after the first requests, the text is "just under 5.00 tUSD".
 */
export function balanceShort(pusd: bigint, unit: MoneyUnit): string {
  const lacking = CENT_PUSD - (pusd % CENT_PUSD)
  return pusd > 0n && lacking < NEAR_PUSD
    ? `just under ${ofUnit(decimal(pusd + lacking, DOLLAR, 2), unit)}`
    : ofUnit(decimal(pusd, DOLLAR, 2), unit)
}

/** A balance to the pico-dollar. */
export const balanceExact = (pusd: bigint, unit: MoneyUnit): string =>
  ofUnit(decimal(pusd, DOLLAR, DOLLAR), unit)

function ofUnit(digits: string, unit: MoneyUnit): string {
  if (unit === 'tUSD') return `${digits}${NBSP}tUSD`
  return digits.startsWith('−') ? `−$${digits.slice(1)}` : `$${digits}`
}
