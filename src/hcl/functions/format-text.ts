// The verbs of format(): %s %d %f %q %v %%, with a width, - for the left side, 0 for leading zeros, and digits after the point.
import { Numeric } from '#hcl/values/numeric.ts'
import { asNumber, asText, kindOf, type HclValue } from '#hcl/values/value.ts'
import { checkLength } from './bounded-text.ts'
import { HclArgumentError } from './function.ts'
import { jsonOf } from './json-value.ts'

const VERB = /%(?:%|([-0]?)(\d{0,3})(?:\.(\d{1,2}))?(\S?))/g
const DECIMALS = 6

/** Throws HclArgumentError where verbs and values do not fit. */
export function formatText(pattern: string, values: readonly HclValue[]): string {
  let used = 0
  const pieces: string[] = []
  let at = 0
  let length = 0
  const add = (piece: string) => {
    pieces.push(piece)
    checkLength((length += piece.length))
  }
  for (const found of pattern.matchAll(VERB)) {
    add(pattern.slice(at, found.index))
    at = found.index + found[0].length
    if (found[0] === '%%') add('%')
    else if (used >= values.length)
      throw new HclArgumentError(`Expected a value for ${found[0]}, found ${values.length} values`)
    else add(verbText(found, values[used++] ?? null))
  }
  if (used < values.length)
    throw new HclArgumentError(`Expected ${used} values for the pattern, found ${values.length}`)
  add(pattern.slice(at))
  return pieces.join('')
}

function verbText(found: RegExpMatchArray, value: HclValue): string {
  const [whole, flag = '', width = '', decimals, verb = ''] = found
  const text = plainText(whole, verb, value, decimals)
  if (flag === '-') return text.padEnd(Number(width))
  if (flag !== '0') return text.padStart(Number(width))
  const sign = text.startsWith('-') ? '-' : ''
  return sign + text.slice(sign.length).padStart(Number(width) - sign.length, '0')
}

function plainText(whole: string, verb: string, value: HclValue, decimals?: string): string {
  if (verb === 'v') return asText(value) ?? jsonOf(value)
  if (verb === 's' || verb === 'q') {
    const text = asText(value)
    if (text === undefined) throw wrong(whole, 'a text', value)
    return verb === 'q' ? JSON.stringify(text) : text
  }
  const number = asNumber(value)
  if (verb === 'd') {
    if (number === undefined || !number.isInteger) throw wrong(whole, 'a whole number', value)
    return number.toString()
  }
  if (verb !== 'f') throw new HclArgumentError(`Expected one of %s %d %f %q %v %%, found ${whole}`)
  if (number === undefined) throw wrong(whole, 'a number', value)
  return decimalText(number, decimals === undefined ? DECIMALS : Number(decimals))
}

/** Rounded half away from zero. */
function decimalText(number: Numeric, decimals: number): string {
  const scale = Numeric.of(10n ** BigInt(decimals))
  const isNegative = number.numerator < 0n
  const magnitude = isNegative ? number.negated() : number
  const rounded = magnitude.times(scale).plus(Numeric.of(1n, 2n)).floor().toString()
  const digits = rounded.padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals)
  return `${isNegative ? '-' : ''}${whole}${decimals === 0 ? '' : `.${fraction}`}`
}

const wrong = (whole: string, expected: string, value: HclValue) =>
  new HclArgumentError(`Expected ${expected} for ${whole}, found ${kindOf(value)}`)
