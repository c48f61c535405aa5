// Whether bytes are a charge that holds, told without making an object of them. Signers check every
// charge, five of them, in a young heap of 2 MiB: there parseCharge() takes 30 to 50 µs and most of the
// time of a checkpoint, this 3 to 6.
//
// It knows the charges that we make: each key in its place, ASCII without escapes. It says true only where
// parseCharge() would not throw; false means no more than that parseCharge() has to look. A property test
// holds the two together.
import { carbonOf, nj, priceOf } from '#base/units.ts'

/** True when parseCharge() accepts the bytes; false when it must be asked. */
export function isPlainCharge(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, byteLength } = bytes
  const found = CHARGE.exec(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'))
  if (found === null) return false
  const [, carbonPg, chargePusd, energyNj, env, mgPerKwh, free, parts, pusdPerJ, unit] = found
  const energy = nj(whole(energyNj))
  const carbon = carbonOfPlain(parts, whole(mgPerKwh))
  return (
    (env === 'test') === (unit === 'tUSD') &&
    sumOf(parts) === energy &&
    carbon === whole(carbonPg) &&
    (free === 'true' ? 0n : priceOf(energy, whole(pusdPerJ))) === whole(chargePusd)
  )
}

const whole = (digits: string | undefined): bigint => BigInt(digits ?? '')

const sumOf = (parts = ''): bigint =>
  parts.matchAll(PART_ENERGY).reduce((sum, [, energyNj]) => sum + whole(energyNj), 0n)

/** As carbonOfParts() of charge.ts. */
function carbonOfPlain(parts = '', mgPerKwh: bigint): bigint {
  let hereNj = 0n
  let elsewhere = 0n
  for (const [, energyNj, own] of parts.matchAll(PART_ENERGY))
    if (own === undefined) hereNj += whole(energyNj)
    else elsewhere += carbonOf(nj(whole(energyNj)), whole(own))
  return carbonOf(nj(hereNj), mgPerKwh) + elsewhere
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
const PART = String.raw`\{"band_pct":${INTEGER},"energy_nj":${INTEGER},${PART_FACTOR}"meter":${TEXT},"method":${TEXT}\}`
const PART_ENERGY = new RegExp(
  String.raw`"energy_nj":${FIGURE}(?:,"factor":\{"basis":${TEXT},"mg_per_kwh":${FIGURE})?`,
  'g',
)
const maybe = (key: string): string => `(?:"${key}":${TEXT},)?`
// In the order of RFC 8785: by UTF-16 code units, which for these keys is by bytes.
const CHARGE = new RegExp(
  [
    String.raw`^\{"account":${TEXT},"carbon_pg":${FIGURE},"charge_pusd":${FIGURE},`,
    String.raw`${maybe('completion_tokens')}"energy_nj":${FIGURE},"env":"(live|test)",`,
    String.raw`"factor":\{"basis":${TEXT},"mg_per_kwh":${FIGURE},${FACTOR_END}\},`,
    String.raw`"free":(true|false),"from":${TIME},"id":${TEXT},`,
    String.raw`${maybe('model')}"operation":${TEXT},"parts":\[(${PART}(?:,${PART})*)\],`,
    String.raw`"price_id":${TEXT},${maybe('prompt_tokens')}"pue_milli":${INTEGER},`,
    String.raw`"pusd_per_j":${FIGURE},"request":${TEXT},(?:"requests":"[1-9][0-9]*",)?${maybe('resource')}"routed_to":${TEXT},`,
    String.raw`"salt":${TEXT},"seq":${INTEGER},"session":${TEXT},"status":[1-9][0-9]{2},`,
    String.raw`"tier":${TEXT},"to":${TIME},${maybe('token')}"unit":"(tUSD|USD)","v":"1"\}$`,
  ].join(''),
)
