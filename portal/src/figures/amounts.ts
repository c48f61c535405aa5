// Bytes and shares as text.
import { decimal, grouped, NBSP, threeDigits, type Scale } from './digits.ts'

const BYTES: readonly Scale[] = [
  { unit: 'PB', exponent: 15 },
  { unit: 'TB', exponent: 12 },
  { unit: 'GB', exponent: 9 },
  { unit: 'MB', exponent: 6 },
  { unit: 'kB', exponent: 3 },
  { unit: 'B', exponent: 0 },
]

/** 412 MB: powers of 1000. */
export const bytesShort = (bytes: bigint): string => threeDigits(bytes, BYTES)
/** 412,316,860 B. */
export const bytesExact = (bytes: bigint): string => `${grouped(bytes)}${NBSP}B`

const TENTHS = 1000n

/**
 * Parts of their sum, each with one decimal: 2.6 %. The largest remainders are rounded up, so that the parts are 100 %
 * together. No part looks like nothing, or like the whole, unless it is.
 */
export function partsOf(amounts: readonly bigint[]): readonly string[] {
  const whole = amounts.reduce((sum, amount) => sum + amount, 0n)
  if (whole === 0n) return amounts.map(() => `0${NBSP}%`)
  const cut = amounts.map((amount) => (amount * TENTHS) / whole)
  const left = Number(TENTHS - cut.reduce((sum, tenths) => sum + tenths, 0n))
  const remainderOf = (nth: number) => ((amounts[nth] ?? 0n) * TENTHS) % whole
  const byRemainder = amounts
    .map((_, nth) => nth)
    .toSorted((a, b) => Number(remainderOf(b) - remainderOf(a)))
  const isRaised = new Set(byRemainder.slice(0, left))
  return cut.map((tenths, nth) =>
    partWords(isRaised.has(nth) ? tenths + 1n : tenths, { amount: amounts[nth] ?? 0n, whole }),
  )
}

function partWords(
  tenths: bigint,
  { amount, whole }: { readonly amount: bigint; readonly whole: bigint },
): string {
  if (amount === 0n || amount === whole) return `${amount === 0n ? 0 : 100}${NBSP}%`
  if (tenths === 0n) return `under 0.1${NBSP}%`
  return tenths === TENTHS ? `over 99.9${NBSP}%` : `${decimal(tenths, 1, 1)}${NBSP}%`
}

/** 58 %, 99.98 %: cut off, so that it is 100 % only where the whole is reached, and 0 % only of nothing. */
export function share(part: bigint, whole: bigint): string {
  if (whole === 0n || part === 0n) return `0${NBSP}%`
  const hundredths = (part * 10_000n) / whole
  if (hundredths === 0n) return `under 0.01${NBSP}%`
  const needsDecimals = hundredths < 100n || (hundredths >= 9_900n && hundredths < 10_000n)
  return `${decimal(hundredths, 2, needsDecimals ? 2 : 0)}${NBSP}%`
}
