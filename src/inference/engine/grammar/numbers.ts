// Numbers of a range, of a step, or both: one automaton for those below zero and one for the others.
import { refuse } from '#inference/engine/fields.ts'
import {
  automatonOf,
  explore,
  intersection,
  type Automaton,
  type AutomatonLimits,
} from './automaton.ts'
import { automatonExpr } from './automaton-grammar.ts'
import {
  atLeast,
  atMost,
  decimalOf,
  DIGITS_MAX,
  highest,
  isBelow,
  wholeRange,
  ZERO,
  type Bound,
  type Decimal,
} from './decimals.ts'
import { chars, EMPTY, or, seq, text, times, type Expr, type Rules } from './grammar.ts'

export type NumberLimits = {
  readonly isInteger: boolean
  readonly least?: { readonly value: number; readonly isOpen: boolean }
  readonly most?: { readonly value: number; readonly isOpen: boolean }
  readonly steps: readonly number[]
}

/** Steps are counted by their remainders, each a state. */
const REMAINDERS_MAX = 10_000n

const DIGIT = chars([[0x30, 0x39]])
const FIRST_DIGIT = chars([[0x31, 0x39]])
const optional = (part: Expr) => times(part, 0, 1)
const WHOLE = or([text('0'), seq(FIRST_DIGIT, times(DIGIT, 0, DIGITS_MAX - 1))])

/** Undefined: there is no such number. */
export const numberExpr = (
  wanted: NumberLimits,
  rules: Rules,
  limits: AutomatonLimits,
): Expr | undefined => rules.shared(JSON.stringify(wanted), () => written(wanted, rules, limits))

function written(wanted: NumberLimits, rules: Rules, limits: AutomatonLimits): Expr | undefined {
  const { isInteger, least, most, steps } = wanted
  if (least === undefined && most === undefined && steps.length === 0)
    return seq(optional(text('-')), WHOLE, isInteger ? EMPTY : fractionAndExponent(rules))
  const write = (automaton: Automaton) => automatonExpr(automaton, rules, chars)
  const positive = magnitudes(wanted, limits)
  const negative = magnitudes(
    {
      ...wanted,
      least: most === undefined ? undefined : { value: -most.value, isOpen: most.isOpen },
      most: least === undefined ? undefined : { value: -least.value, isOpen: least.isOpen },
      withoutZero: true,
    },
    limits,
  )
  const found = [
    ...(negative.length > 0 ? [seq(text('-'), write(negative))] : []),
    ...(positive.length > 0 ? [write(positive)] : []),
  ]
  return found.length === 0 ? undefined : or(found)
}

const fractionAndExponent = (rules: Rules): Expr => {
  const fraction = rules.add(seq(text('.'), times(DIGIT, 1, DIGITS_MAX)))
  const exponent = seq(chars(EXPONENT), optional(chars(SIGN)), times(DIGIT, 1, 2))
  return seq(optional(fraction), optional(rules.add(exponent)))
}
const EXPONENT = [
  [0x45, 0x45],
  [0x65, 0x65],
] as const
const SIGN = [
  [0x2b, 0x2b],
  [0x2d, 0x2d],
] as const

type Magnitudes = Pick<NumberLimits, 'isInteger' | 'steps'> & {
  readonly least?: NumberLimits['least'] | undefined
  readonly most?: NumberLimits['most'] | undefined
  readonly withoutZero?: boolean
}

/** Those of the numbers that are zero or more; without zero for what a minus sign is before. */
function magnitudes(wanted: Magnitudes, limits: AutomatonLimits): Automaton {
  const { isInteger, steps, withoutZero } = wanted
  const most = boundOf(wanted.most)
  if (wanted.most !== undefined && wanted.most.value < 0) return []
  const floor: Bound = { at: ZERO, isOpen: withoutZero === true }
  const asked =
    wanted.least !== undefined && wanted.least.value >= 0 ? boundOf(wanted.least) : floor
  const least = asked !== undefined && (asked.isOpen || isBelow(floor.at, asked.at)) ? asked : floor
  // With a step each count of digits is as many states as there are remainders.
  const isCounted = steps.length === 0
  const range = (isInteger ? wholes : decimals)({ least, most, isCounted }, limits)
  return steps.reduce(
    (automaton, step) => intersection(automaton, multiples(step, limits), limits),
    range,
  )
}

const boundOf = (bound: NumberLimits['least']): Bound | undefined =>
  bound && { at: decimalOf(bound.value), isOpen: bound.isOpen }

type Range = {
  readonly least: Bound
  readonly most: Bound | undefined
  /** Where there is no most: whether the digits end where clients still read them exactly. */
  readonly isCounted: boolean
}

function decimals({ least, most, isCounted }: Range, limits: AutomatonLimits): Automaton {
  const above = automatonOf(atLeast(least, isCounted), limits)
  return most === undefined ? above : intersection(above, automatonOf(atMost(most), limits), limits)
}

function wholes({ least, most, isCounted }: Range, limits: AutomatonLimits): Automaton {
  const from = least.at.whole + (least.isOpen || least.at.fraction !== '' ? 1n : 0n)
  if (most === undefined)
    return automatonOf(wholeRange(from, isCounted ? highest(from) : 'any'), limits)
  const to = most.at.whole - (most.isOpen && most.at.fraction === '' ? 1n : 0n)
  return automatonOf(wholeRange(from, to), limits)
}

/**
 * Multiples of a step: the remainder of the digits so far, each digit after the point a tenth of the one
 * before it. `place` is how many digits after the point there are, -1 before it.
 */
function multiples(step: number, { budget, param }: AutomatonLimits): Automaton {
  const scaled = scaledStep(step)
  if (scaled.step <= 0n) throw refuse(param, 'multipleOf must be above 0')
  if (scaled.places > DIGITS_MAX || scaled.step * BigInt(scaled.places + 1) > REMAINDERS_MAX)
    throw refuse(param, `multipleOf ${step} has too many digits`)
  const size = Number(scaled.step)
  const { places } = scaled
  const fits = (remainder: number, place: number) =>
    place !== 0 && (remainder * 10 ** (places - Math.max(place, 0))) % size === 0
  return explore<readonly [number, number]>(
    [0, START],
    (steps) => budget.spend(steps, param),
    ([remainder, place]) => ({
      accepts: place !== START && fits(remainder, place),
      moves: [
        ...(place === WHOLE_PART && places > 0
          ? [{ from: 0x2e, to: 0x2e, next: [remainder, 0] as const }]
          : []),
        ...(place < places ? DIGITS : []).map((digit) => ({
          from: 0x30 + digit,
          to: 0x30 + digit,
          next: [(remainder * 10 + digit) % size, place < 0 ? WHOLE_PART : place + 1] as const,
        })),
      ],
    }),
  )
}

const START = -2
const WHOLE_PART = -1
const DIGITS = Array.from({ length: 10 }, (_, digit) => digit)

/** 0.25 as 25 of 2 places. */
function scaledStep(step: number): { step: bigint; places: number } {
  const { whole, fraction }: Decimal = decimalOf(step)
  return { step: BigInt(`${whole}${fraction}`), places: step > 0 ? fraction.length : 0 }
}

/** True when a written number keeps the limits. */
export function fitsNumber(
  value: number,
  { isInteger, least, most, steps }: NumberLimits,
): boolean {
  if (isInteger && !Number.isInteger(value)) return false
  if (least !== undefined && (value < least.value || (least.isOpen && value === least.value)))
    return false
  if (most !== undefined && (value > most.value || (most.isOpen && value === most.value)))
    return false
  return steps.every((step) => {
    const [number, by] = [decimalOf(value), scaledStep(step)]
    const digits = number.fraction.padEnd(by.places, '0')
    return digits.length === by.places && BigInt(`${number.whole}${digits}`) % by.step === 0n
  })
}
