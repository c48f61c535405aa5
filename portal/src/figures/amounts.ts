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

/** 58 %, 99.98 %: cut off, so that it is 100 % only where the whole is reached, and 0 % only of nothing. */
export function share(part: bigint, whole: bigint): string {
  if (whole === 0n || part === 0n) return `0${NBSP}%`
  const hundredths = (part * 10_000n) / whole
  if (hundredths === 0n) return `under 0.01${NBSP}%`
  const needsDecimals = hundredths < 100n || (hundredths >= 9_900n && hundredths < 10_000n)
  return `${decimal(hundredths, 2, needsDecimals ? 2 : 0)}${NBSP}%`
}
