// Ranges of decimal numbers as regular expressions over their digits. Nothing here has a sign: below zero
// a range of numbers is a range of magnitudes.
import { either, literal, oneOf, repeat, regexSequence, type Regex } from './regex.ts'

/** A number of no sign, exactly: its whole part, and the digits after the point without zeros at the end. */
export type Decimal = { readonly whole: bigint; readonly fraction: string }

/** A bound; `isOpen`: the number itself is outside. */
export type Bound = { readonly at: Decimal; readonly isOpen: boolean }

/** Digits that a number without a bound has: what every client reads exactly. */
export const DIGITS_MAX = 15

export const ZERO: Decimal = { whole: 0n, fraction: '' }

/** The magnitude of a number, exactly as its shortest text says it. */
export function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toString().split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const shift = Number(exponent)
  const digits = whole + fraction
  const point = whole.length + shift
  const padded =
    point <= 0 ? digits.padStart(digits.length - point + 1, '0') : digits.padEnd(point, '0')
  const at = Math.max(point, 1)
  return { whole: BigInt(padded.slice(0, at)), fraction: padded.slice(at).replace(/0+$/, '') }
}

export const isBelow = (one: Decimal, other: Decimal): boolean =>
  one.whole < other.whole || (one.whole === other.whole && one.fraction < other.fraction)

const digit = (from: number, to: number): Regex => oneOf([[0x30 + from, 0x30 + to]])
const ANY = digit(0, 9)
const digits = (least: number, most: number) => repeat(ANY, least, most)
const NONE = either()

/** Whole numbers from one to another, without leading zeros. */
export function wholeRange(from: bigint, to: bigint | 'any'): Regex {
  const low = String(from)
  if (to === 'any') {
    const more = regexSequence(digit(1, 9), digits(low.length, Number.POSITIVE_INFINITY))
    return either(sameLength(low, '9'.repeat(low.length)), more)
  }
  const high = String(to)
  if (from > to) return NONE
  if (low.length === high.length) return sameLength(low, high)
  const between = Array.from({ length: high.length - low.length - 1 }, (_, index) =>
    regexSequence(digit(1, 9), digits(low.length + index, low.length + index)),
  )
  return either(
    sameLength(low, '9'.repeat(low.length)),
    ...between,
    sameLength(`1${'0'.repeat(high.length - 1)}`, high),
  )
}

/** Digits from one text to another of the same length. */
function sameLength(low: string, high: string): Regex {
  if (low === high) return literal(low)
  if (/^0+$/.test(low) && /^9+$/.test(high)) return digits(low.length, low.length)
  const [a, b] = [Number(low[0]), Number(high[0])]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const rest = lowRest.length
  if (a === b) return regexSequence(digit(a, a), sameLength(lowRest, highRest))
  if (rest === 0) return digit(a, b)
  const [least, most] = ['0'.repeat(rest), '9'.repeat(rest)]
  return either(
    regexSequence(digit(a, a), sameLength(lowRest, most)),
    ...(a + 1 < b ? [regexSequence(digit(a + 1, b - 1), digits(rest, rest))] : []),
    regexSequence(digit(b, b), sameLength(least, highRest)),
  )
}

const POINT = literal('.')
const anyFraction = repeat(regexSequence(POINT, digits(1, DIGITS_MAX)), 0, 1)
/** Digits that are not all zeros. */
const SOMETHING = regexSequence(
  repeat(digit(0, 0), 0, DIGITS_MAX),
  digit(1, 9),
  digits(0, DIGITS_MAX),
)

/** Numbers that are not below a bound, of any number of digits or of a usual one. */
export function atLeast({ at: { whole, fraction }, isOpen }: Bound, isCounted: boolean): Regex {
  const top = isCounted ? highest(whole) : 'any'
  const above = regexSequence(wholeRange(whole + 1n, top), anyFraction)
  const start = literal(String(whole))
  if (fraction === '') {
    const same = isOpen ? regexSequence(start, POINT, SOMETHING) : regexSequence(start, anyFraction)
    return either(above, same)
  }
  const greater = [...fraction].flatMap((each, index) =>
    each === '9'
      ? []
      : [
          regexSequence(
            literal(fraction.slice(0, index)),
            digit(Number(each) + 1, 9),
            digits(0, DIGITS_MAX),
          ),
        ],
  )
  const equal = regexSequence(literal(fraction), isOpen ? SOMETHING : digits(0, DIGITS_MAX))
  return either(above, regexSequence(start, POINT, either(...greater, equal)))
}

/** Numbers that are not above a bound. */
export function atMost({ at: { whole, fraction }, isOpen }: Bound): Regex {
  const below = whole === 0n ? NONE : regexSequence(wholeRange(0n, whole - 1n), anyFraction)
  const start = literal(String(whole))
  if (fraction === '') return isOpen ? below : either(below, start)
  const less = [...fraction].flatMap((each, index) =>
    each === '0'
      ? []
      : [
          regexSequence(
            literal(fraction.slice(0, index)),
            digit(0, Number(each) - 1),
            digits(0, DIGITS_MAX),
          ),
        ],
  )
  const shorter = Array.from({ length: fraction.length - 1 }, (_, index) =>
    literal(fraction.slice(0, index + 1)),
  )
  const equal = isOpen ? [] : [literal(fraction)]
  return either(below, start, regexSequence(start, POINT, either(...less, ...shorter, ...equal)))
}

/** A whole number that is large beside another: where a range ends that has no end. */
export const highest = (beside: bigint): bigint =>
  10n ** BigInt(Math.max(DIGITS_MAX, String(beside).length + 1)) - 1n
