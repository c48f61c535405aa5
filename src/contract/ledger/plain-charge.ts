// Checks that bytes are a valid charge, without making an object of them. Signers check every
// charge, five of them, in a young heap of 2 MiB: there parseCharge() takes 30 to 50 µs and most of the
// time of a checkpoint, this 3 to 6.
//
// It knows the charges that we make: each key in its place, ASCII without escapes. It says true only where
// parseCharge() would not throw; false means no more than that parseCharge() has to look. A property test
// holds the two together.
import { carbonOf, nj, priceOf } from '#base/units.ts'

/** True when parseCharge() accepts the bytes; false when it must be asked. */
export function isPlainCharge(bytes: Uint8Array): boolean {
  const found = CHARGE.exec(bufferOf(bytes).toString('latin1'))
  if (found === null) return false
  const [, carbonPg, chargePusd, energyNj, env, mgPerKwh, free, parts, pusdPerJ, unit] = found
  const energy = nj(whole(energyNj))
  const summed = sumsOf(parts, whole(mgPerKwh))
  return (
    (env === 'test') === (unit === 'tUSD') &&
    summed.energyNj === energy &&
    summed.carbonPg === whole(carbonPg) &&
    (free === 'true' ? 0n : priceOf(energy, whole(pusdPerJ))) === whole(chargePusd)
  )
}

const whole = (digits: string | undefined): bigint => BigInt(digits ?? '')

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The energy of parts, and their carbon as carbonOfParts() of charge.ts has it. */
function sumsOf(parts = '', mgPerKwh: bigint): { energyNj: bigint; carbonPg: bigint } {
  let hereNj = 0n
  let elsewhereNj = 0n
  let elsewherePg = 0n
  for (const [, energyNj, own] of parts.matchAll(PART_ENERGY)) {
    const energy = whole(energyNj)
    if (own === undefined) hereNj += energy
    else {
      elsewhereNj += energy
      elsewherePg += carbonOf(nj(energy), whole(own))
    }
  }
  return {
    energyNj: hereNj + elsewhereNj,
    carbonPg: carbonOf(nj(hereNj), mgPerKwh) + elsewherePg,
  }
}

// Printable ASCII but the quote and the backslash.
const TEXT = String.raw`"[ !#-\[\]-~]+"`
const DIGITS = '0|[1-9][0-9]*'
const INTEGER = `"(?:${DIGITS})"`
/** An integer that is read, not only looked at. */
const FIGURE = `"(${DIGITS})"`
const TIME = String.raw`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`
const FACTOR_END = `"source":${TEXT},"year":${INTEGER},"zone":${TEXT}`
const PART_FACTOR = String.raw`(?:"factor":\{"basis":${TEXT},"mg_per_kwh":${INTEGER},${FACTOR_END}\},)?`
const PART = String.raw`\{"band_pct":${INTEGER},"energy_nj":${INTEGER},${PART_FACTOR}(?:"idle":true,)?"meter":${TEXT},"method":${TEXT}\}`
const PART_ENERGY = new RegExp(
  String.raw`"energy_nj":${FIGURE}(?:,"factor":\{"basis":${TEXT},"mg_per_kwh":${FIGURE})?`,
  'g',
)
const maybe = (key: string): string => `(?:"${key}":${TEXT},)?`
// In the order of RFC 8785: by UTF-16 code units, which for these keys is by bytes.
const CHARGE = new RegExp(
  [
    String.raw`^\{"account":${TEXT},"carbon_pg":${FIGURE},${maybe('cell')}"charge_pusd":${FIGURE},`,
    String.raw`${maybe('completion_tokens')}"energy_nj":${FIGURE},"env":"(live|test)",`,
    String.raw`"factor":\{"basis":${TEXT},"mg_per_kwh":${FIGURE},${FACTOR_END}\},`,
    String.raw`"free":(true|false),"from":${TIME},"id":${TEXT},`,
    String.raw`${maybe('model')}"operation":${TEXT},"parts":\[(${PART}(?:,${PART})*)\],`,
    String.raw`"price_id":${TEXT},${maybe('prompt_tokens')}"pue_milli":${INTEGER},`,
    String.raw`"pusd_per_j":${FIGURE},"request":${TEXT},(?:"requests":"[1-9][0-9]*",)?${maybe('resource')}"routed_to":${TEXT},`,
    String.raw`"salt":${TEXT},"seq":${INTEGER},"session":${TEXT},"status":[1-9][0-9]{2},`,
    String.raw`(?:"subject_sha256":"[0-9a-f]{64}",)?`,
    String.raw`"tier":${TEXT},"to":${TIME},${maybe('token')}"unit":"(tUSD|USD)","v":"1"\}$`,
  ].join(''),
)
