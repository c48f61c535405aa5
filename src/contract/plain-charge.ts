// Whether bytes are a charge that holds, told without making an object of them. Signers check every
// charge, five of them, in a young heap of 1 MiB: there parseCharge() takes 30 to 50 µs and most of the
// time of a checkpoint, this 2 µs.
//
// It knows the charges that we make: each key in its place, ASCII without escapes, integers of at most
// fifteen digits. It says true only where parseCharge() would not throw; false means no more than that
// parseCharge() has to look. A property test holds the two together.
import { carbonOf, nj, priceOf } from '#base/units.ts'

/** True when parseCharge() accepts the bytes; false when it must be asked. */
export function isPlainCharge(bytes: Uint8Array): boolean {
  const scan = new Scan(bytes)
  return scan.charge() && scan.isAtEnd && follows(scan)
}

// A double holds fifteen digits exactly.
const DIGITS_MAX = 15
const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39
const FIRST_PRINTABLE = 0x20
const LAST_ASCII = 0x7e

type Figure =
  | 'carbon_pg'
  | 'charge_pusd'
  | 'energy_nj'
  | 'mg_per_kwh'
  | 'part_nj'
  | 'pusd_per_j'
  | 'other'
type Field =
  | { readonly kind: 'text'; readonly key: Buffer; readonly optional: boolean }
  | { readonly kind: 'integer'; readonly key: Buffer; readonly figure: Figure }
  | {
      readonly kind: 'time' | 'parts' | 'factor' | 'free' | 'status' | 'money'
      readonly key: Buffer
    }

const keyOf = (name: string, open: string): Buffer => Buffer.from(`"${name}":${open}`)
const text = (name: string): Field => ({ kind: 'text', key: keyOf(name, '"'), optional: false })
const maybe = (name: string): Field => ({ kind: 'text', key: keyOf(name, '"'), optional: true })
const integer = (name: string, figure: Figure = 'other'): Field => ({
  kind: 'integer',
  key: keyOf(name, '"'),
  figure,
})

// In the order of RFC 8785: by UTF-16 code units, which for these keys is by bytes.
const FACTOR: readonly Field[] = [
  text('basis'),
  integer('mg_per_kwh', 'mg_per_kwh'),
  text('source'),
  integer('year'),
  text('zone'),
]
const PART: readonly Field[] = [
  integer('band_pct'),
  integer('energy_nj', 'part_nj'),
  text('meter'),
  text('method'),
]
const CHARGE: readonly Field[] = [
  text('account'),
  integer('carbon_pg', 'carbon_pg'),
  integer('charge_pusd', 'charge_pusd'),
  maybe('completion_tokens'),
  integer('energy_nj', 'energy_nj'),
  { kind: 'money', key: keyOf('env', '"') },
  { kind: 'factor', key: keyOf('factor', '{') },
  { kind: 'free', key: keyOf('free', '') },
  { kind: 'time', key: keyOf('from', '"') },
  text('id'),
  maybe('model'),
  text('operation'),
  { kind: 'parts', key: keyOf('parts', '[') },
  text('price_id'),
  maybe('prompt_tokens'),
  integer('pue_milli'),
  integer('pusd_per_j', 'pusd_per_j'),
  text('request'),
  maybe('resource'),
  text('routed_to'),
  text('salt'),
  integer('seq'),
  text('session'),
  { kind: 'status', key: keyOf('status', '') },
  text('tier'),
  { kind: 'time', key: keyOf('to', '"') },
  maybe('token'),
]
const UNIT = keyOf('unit', '"')
const VERSION = Buffer.from('"v":"1"}')
const TEST = Buffer.from('test"')
const LIVE = Buffer.from('live"')
const TEST_UNIT = Buffer.from('tUSD"')
const LIVE_UNIT = Buffer.from('USD"')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
// Digits where the zeros are.
const TIME = Buffer.from('0000-00-00T00:00:00.000Z"')

/** A place in the bytes, and the figures found before it. Each method moves on, or says false. */
class Scan {
  readonly figures: Record<Figure, number> = {
    carbon_pg: 0,
    charge_pusd: 0,
    energy_nj: 0,
    mg_per_kwh: 0,
    part_nj: 0,
    pusd_per_j: 0,
    other: 0,
  }
  isFree = false
  readonly #bytes: Uint8Array
  #at = 0
  #isTest = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  charge(): boolean {
    if (!this.#byte('{') || !this.#fields(CHARGE)) return false
    const unit = this.#isTest ? TEST_UNIT : LIVE_UNIT
    return (
      this.#byte(',') && this.#is(UNIT) && this.#is(unit) && this.#byte(',') && this.#is(VERSION)
    )
  }

  #fields(fields: readonly Field[]): boolean {
    let isFirst = true
    for (const field of fields) {
      const before = this.#at
      const found = (isFirst || this.#byte(',')) && this.#is(field.key)
      if (!found && field.kind === 'text' && field.optional) {
        this.#at = before
        continue
      }
      if (!found || !this.#value(field)) return false
      isFirst = false
    }
    return true
  }

  #value(field: Field): boolean {
    switch (field.kind) {
      case 'text':
        return this.#text()
      case 'integer':
        return this.#integer(field.figure) && this.#byte('"')
      case 'time':
        return this.#time()
      case 'status':
        return this.#integer('other')
      case 'factor':
        return this.#fields(FACTOR) && this.#byte('}')
      case 'parts':
        return this.#parts()
      case 'free':
        this.isFree = this.#is(TRUE)
        return this.isFree || this.#is(FALSE)
      case 'money':
        this.#isTest = this.#is(TEST)
        return this.#isTest || this.#is(LIVE)
    }
  }

  #parts(): boolean {
    let sum = 0
    do {
      if (!this.#byte('{') || !this.#fields(PART) || !this.#byte('}')) return false
      sum += this.figures.part_nj
    } while (this.#byte(','))
    this.figures.part_nj = sum
    return Number.isSafeInteger(sum) && this.#byte(']')
  }

  /** Up to and with the closing quote; never empty. */
  #text(): boolean {
    const from = this.#at
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte === QUOTE) return this.#at++ > from
      if (byte === undefined || byte < FIRST_PRINTABLE || byte > LAST_ASCII || byte === BACKSLASH)
        return false
      this.#at++
    }
  }

  #integer(figure: Figure): boolean {
    const from = this.#at
    let value = 0
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined || byte < ZERO || byte > NINE) break
      value = value * 10 + (byte - ZERO)
      this.#at++
    }
    const digits = this.#at - from
    if (digits === 0 || digits > DIGITS_MAX) return false
    this.figures[figure] = value
    return digits === 1 || this.#bytes[from] !== ZERO
  }

  #time(): boolean {
    for (const wanted of TIME) {
      const byte = this.#bytes[this.#at++] ?? 0
      if (wanted === ZERO ? byte < ZERO || byte > NINE : byte !== wanted) return false
    }
    return true
  }

  #byte(character: string): boolean {
    if (this.#bytes[this.#at] !== character.charCodeAt(0)) return false
    this.#at++
    return true
  }

  /** These bytes come next; if not, the place stays. */
  #is(expected: Uint8Array): boolean {
    for (let nth = 0; nth < expected.length; nth++)
      if (this.#bytes[this.#at + nth] !== expected[nth]) return false
    this.#at += expected.length
    return true
  }
}

/** The figures follow from each other, by the arithmetic of every charge. */
function follows({ figures, isFree }: Scan): boolean {
  const energy = nj(BigInt(figures.energy_nj))
  return (
    figures.part_nj === figures.energy_nj &&
    carbonOf(energy, BigInt(figures.mg_per_kwh)) === BigInt(figures.carbon_pg) &&
    (isFree ? 0n : priceOf(energy, BigInt(figures.pusd_per_j))) === BigInt(figures.charge_pusd)
  )
}
