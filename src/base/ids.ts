// Identifiers: a prefix and a UUIDv7 (RFC 9562 §5.7) as 26 characters of lower-case Crockford base32,
// so that ids sort by time under COLLATE "C" and carry their kind.
import { takeRandom } from './random.ts'

export type IdPrefix =
  | 'req'
  | 'rcpt'
  | 'acct'
  | 'tok'
  | 'aud'
  | 'mem'
  | 'evt'
  | 'wl'
  | 'fn'
  | 'db'
  | 'we'
  | 'pack'
  | 'chatcmpl'
  | 'cmpl'
  | 'pay'
  | 'card'
  | 'refund'
  | 'voucher'
  | 'grant'
  | 'inc'
  | 'passkey'
  | 'login'
  | 'dep'
export type Id<P extends IdPrefix> = `${P}_${string}`

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY = /^[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$/

const TIME_DIGITS = 10
const RANDOM_DIGITS = 16

/** The 26-character body of a new id; `nowMs` is wall time. */
export function newIdBody(nowMs: number): string {
  let time = ''
  for (let digit = 0, rest = nowMs; digit < TIME_DIGITS; digit++) {
    time = (ALPHABET[rest % 32] ?? '0') + time
    rest = Math.floor(rest / 32)
  }
  // 48 bits of time fill ten digits; the 80 bits behind them fill sixteen: four of the version (7) and
  // twelve at random, two of the variant (binary 10) and sixty-two at random.
  const random = takeRandom(RANDOM_DIGITS)
  let text = time
  for (let digit = 0; digit < RANDOM_DIGITS; digit++) {
    const bits = (random[digit] ?? 0) & 31
    text += ALPHABET[digit === 0 ? 14 | (bits & 1) : digit === 3 ? 8 | (bits & 19) : bits] ?? '0'
  }
  return text
}

export const newId = <P extends IdPrefix>(prefix: P, nowMs: number = Date.now()): Id<P> =>
  `${prefix}_${newIdBody(nowMs)}`

/** The body of an id of the given prefix, or undefined when the text is not one. */
export function idBody(prefix: IdPrefix, text: string): string | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined
  const body = text.slice(prefix.length + 1)
  return BODY.test(body) ? body : undefined
}

/** When an id was made, in wall time; undefined when the text is not one of the prefix. */
export function idTimeMs(prefix: IdPrefix, text: string): number | undefined {
  const time = idBody(prefix, text)?.slice(0, TIME_DIGITS)
  if (time === undefined) return undefined
  return [...time].reduce((ms, digit) => ms * 32 + ALPHABET.indexOf(digit), 0)
}

export const isId = <P extends IdPrefix>(prefix: P, text: string): text is Id<P> =>
  idBody(prefix, text) !== undefined
