// Numbers are exact fractions: an integer of any length stays what the file says, and (1 / 3) * 3 is 1. HCL itself
// computes with 512 bits; limits keep a number from growing without end.

/** Digits of a numerator or denominator at most. */
export const NUMBER_DIGITS_MAX = 400
const LONG = 10n ** 18n
const LIMIT = 10n ** BigInt(NUMBER_DIGITS_MAX)
/** Digits behind the point of a fraction that has no end, such as 1 / 3. */
const FRACTION_DIGITS = 40

/** The number is too long to compute with, or a division by zero. */
export class NumericError extends RangeError {
  override readonly name = 'NumericError'
}

export class Numeric {
  readonly numerator: bigint
  /** Greater than 0, and without a common factor with the numerator. */
  readonly denominator: bigint

  private constructor(numerator: bigint, denominator: bigint) {
    this.numerator = numerator
    this.denominator = denominator
  }

  /** Throws NumericError. */
  static of(numerator: bigint | number, denominator = 1n): Numeric {
    if (denominator === 0n) throw new NumericError('is a division by zero')
    const made = Numeric.#reduced(numerator, denominator)
    if (made === undefined) throw new NumericError(`has more than ${NUMBER_DIGITS_MAX} digits`)
    return made
  }

  /** Undefined beyond the limit. */
  static #reduced(numerator: bigint | number, denominator: bigint): Numeric | undefined {
    const sign = denominator < 0n ? -1n : 1n
    const top = BigInt(numerator) * sign
    const factor = denominator === 1n ? 1n : commonFactor(top, denominator)
    const made = new Numeric(top / factor, (denominator * sign) / factor)
    const isLong = absolute(made.numerator) >= LIMIT || made.denominator >= LIMIT
    return isLong ? undefined : made
  }

  /** A number as the language writes it, such as 12, -0.5 or 1e6; undefined of other texts and beyond the limit. */
  static read(text: string): Numeric | undefined {
    const found = /^(-?)(\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
    if (found === null) return undefined
    const [, sign, whole = '', fraction = '', exponent = '0'] = found
    const shift = Number(exponent) - fraction.length
    const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n)
    return shift >= 0
      ? Numeric.#reduced(digits * 10n ** BigInt(shift), 1n)
      : Numeric.#reduced(digits, 10n ** BigInt(-shift))
  }

  plus(other: Numeric): Numeric {
    return Numeric.of(
      this.numerator * other.denominator + other.numerator * this.denominator,
      this.denominator * other.denominator,
    )
  }
  negated(): Numeric {
    return Numeric.of(-this.numerator, this.denominator)
  }
  minus(other: Numeric): Numeric {
    return this.plus(other.negated())
  }
  times(other: Numeric): Numeric {
    return Numeric.of(this.numerator * other.numerator, this.denominator * other.denominator)
  }
  dividedBy(other: Numeric): Numeric {
    return Numeric.of(this.numerator * other.denominator, this.denominator * other.numerator)
  }
  /** The rest of a division whose quotient is cut towards zero: its sign is that of this number. */
  remainder(other: Numeric): Numeric {
    const quotient = this.dividedBy(other)
    return this.minus(other.times(Numeric.of(quotient.numerator / quotient.denominator)))
  }
  /** The greatest integer that is not above this number. */
  floor(): Numeric {
    const cut = this.numerator / this.denominator
    return Numeric.of(cut * this.denominator > this.numerator ? cut - 1n : cut)
  }
  /** Less than 0, 0, or greater than 0. */
  compare(other: Numeric): number {
    const difference = this.numerator * other.denominator - other.numerator * this.denominator
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  }
  equals(other: Numeric): boolean {
    return this.numerator === other.numerator && this.denominator === other.denominator
  }
  /** Steps that an operation with this number costs. An operation with a long number takes up to 100 times as long. */
  get steps(): number {
    return absolute(this.numerator) < LONG && this.denominator < LONG ? 1 : 100
  }
  /** Digits to the base 16, which are quick to count; 1 for a number that is not long. */
  get length(): number {
    if (this.steps === 1) return 1
    return absolute(this.numerator).toString(16).length + this.denominator.toString(16).length
  }
  get isInteger(): boolean {
    return this.denominator === 1n
  }

  /** As an integer that JavaScript holds exactly; undefined of any other number. */
  toInteger(): number | undefined {
    const figure = Number(this.numerator)
    return this.isInteger && Number.isSafeInteger(figure) ? figure : undefined
  }

  /** A plain decimal; a fraction that has no end is cut after 40 digits. */
  toString(): string {
    if (this.isInteger) return this.numerator.toString()
    const places = decimalPlaces(this.denominator)
    const scaled = (absolute(this.numerator) * 10n ** BigInt(places)) / this.denominator
    const digits = scaled.toString().padStart(places + 1, '0')
    const fraction = digits.slice(-places).replace(/0+$/, '')
    const sign = this.numerator < 0n ? '-' : ''
    return `${sign}${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`
  }
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

function commonFactor(one: bigint, other: bigint): bigint {
  let [a, b] = [absolute(one), absolute(other)]
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

/** The places of the decimal: those of the greater power of 2 or 5, or 40 where there is no end. */
function decimalPlaces(denominator: bigint): number {
  let rest = denominator
  const powerOf = (factor: bigint): number => {
    let power = 0
    for (; rest % factor === 0n; power++) rest /= factor
    return power
  }
  const places = Math.max(powerOf(2n), powerOf(5n))
  return rest === 1n ? places : FRACTION_DIGITS
}
