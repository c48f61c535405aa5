// Digits of whole numbers as text: grouping, decimals, three significant digits. No figure of the console is ever a
// floating-point number before its last step, so equal integers print as equal text on every page.

/** Stands before units, so that no line ends between a figure and its unit. */
export const NBSP = '\u00a0'

/** 1284 → 1,284. */
export const grouped = (value: bigint): string =>
  value.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',')

const power = (exponent: number): bigint => 10n ** BigInt(exponent)

/** `value` × 10^-scale with `decimals` digits after the point, cut off: 4986214n, 6, 2 → 4.98. */
export function decimal(value: bigint, scale: number, decimals: number): string {
  const cut = (value < 0n ? -value : value) / power(scale - decimals)
  const whole = grouped(cut / power(decimals))
  const fraction = (cut % power(decimals)).toString().padStart(decimals, '0')
  return `${value < 0n ? '−' : ''}${whole}${decimals === 0 ? '' : `.${fraction}`}`
}

/** A unit and the power of ten of the base unit that it stands for. */
export type Scale = {
  readonly unit: string
  readonly exponent: number
  readonly decimalsMax?: number
}

/**
 * The value in the largest unit that leaves a digit before the point, rounded to three digits: 358035898n → 358 mJ.
 * Of the smallest unit it has no decimals: there is nothing below. `isCut`: cut off in place of rounded.
 */
export function threeDigits(value: bigint, scales: readonly Scale[], isCut = false): string {
  if (value < 0n) return `−${threeDigits(-value, scales, isCut)}`
  for (const [nth, { unit, exponent, decimalsMax = 2 }] of scales.entries()) {
    const isLast = nth === scales.length - 1
    if (value < power(exponent) && !isLast) continue
    const digits = (value / power(exponent)).toString().length
    const decimals = Math.min(Math.max(3 - digits, 0), decimalsMax, exponent)
    const step = power(exponent - decimals)
    const rounded = ((isCut ? value : value + step / 2n) / step) * step
    const larger = scales[nth - 1]
    // 999.6 mJ rounds up to the next unit.
    if (larger !== undefined && rounded >= power(larger.exponent))
      return threeDigits(rounded, scales)
    return `${decimal(rounded, exponent, decimals)}${NBSP}${unit}`
  }
  return ''
}
