// A comparison for an energy, chosen by its size, so that a joule means something to a reader.
import { NBSP } from './digits.ts'

const KJ = 1_000
const MJ = 1_000_000
/** 0.1 kg × 9.81 m/s²: an apple, a metre up. */
const APPLE_J_PER_M = 0.981
const LAMP_W = 8
/** A battery of 15 Wh. */
const PHONE_J = 54 * KJ
/** A litre of water from 20 °C to 100 °C. */
const LITRE_J = 335 * KJ
const CAR_J_PER_KM = 0.6 * MJ

type Step = { readonly belowJ: number; readonly words: (joules: number) => string }
const STEPS: readonly Step[] = [
  { belowJ: 10, words: (joules) => `lifting an apple by ${length(joules / APPLE_J_PER_M)}` },
  { belowJ: 10 * KJ, words: (joules) => `an ${LAMP_W}${NBSP}W lamp for ${span(joules / LAMP_W)}` },
  { belowJ: 500 * KJ, words: phone },
  { belowJ: 36 * MJ, words: (joules) => `${short(joules / LITRE_J)} litres of water to the boil` },
  {
    belowJ: Infinity,
    words: (joules) => `${short(joules / CAR_J_PER_KM)}${NBSP}km by electric car`,
  },
]

/** lifting an apple by 36 cm; undefined for nothing. */
export function asMuchAs(nj: bigint): string | undefined {
  const joules = Number(nj) / 1e9
  return nj <= 0n ? undefined : STEPS.find(({ belowJ }) => joules < belowJ)?.words(joules)
}

function phone(joules: number): string {
  if (joules >= PHONE_J) return `${short(joules / PHONE_J)} phone charges`
  return `${Math.round((joules / PHONE_J) * 100)}${NBSP}% of a phone charge`
}

function length(metres: number): string {
  if (metres >= 1) return `${metres.toFixed(1)}${NBSP}m`
  if (metres >= 0.01) return `${Math.round(metres * 100)}${NBSP}cm`
  return metres >= 0.001 ? `${Math.round(metres * 1000)}${NBSP}mm` : 'less than a millimetre'
}

function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)}${NBSP}s`
  return `${Math.round(seconds / 60)}${NBSP}min`
}

const short = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)))
