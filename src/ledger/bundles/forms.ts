// The forms in which a column of values is written. Each form gives back exactly the column that it took, or refuses
// the column. The smallest accepted form is used, so no form has to know the meaning of a column.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { ByteReader, ByteWriter } from './varints.ts'

/** The values of a column by their places. A value is made when it is asked for: most readers want one, or a few. */
export type ReadColumn = {
  readonly at: (place: number) => string
  /** The first place of a value; negative where it is not in the column. */
  readonly find: (value: string) => number
}

type ColumnForm = {
  /** Undefined when the values do not fit. */
  readonly write: (values: readonly string[]) => Buffer | undefined
  readonly read: (bytes: Buffer, count: number) => ReadColumn
}

const columnOf = (count: number, at: ReadColumn['at']): ReadColumn => ({
  at,
  find(value) {
    for (let place = 0; place < count; place++) if (at(place) === value) return place
    return -1
  },
})

/** A column as it is stored: the number of its form, and its bytes. */
export type WrittenColumn = {
  readonly form: number
  readonly isCompressed: boolean
  readonly bytes: Buffer
}

/** Any values: a list of the different ones, and the place of each in it. */
const words: ColumnForm = {
  write(values) {
    const places = new Map([...new Set(values)].map((value, place) => [value, place]))
    const out = new ByteWriter()
    out.varint(places.size)
    for (const value of places.keys()) out.text(value)
    if (places.size > 1) for (const value of values) out.varint(places.get(value) ?? 0)
    return out.done()
  },
  read(bytes, count) {
    const from = new ByteReader(bytes)
    const list = Array.from({ length: from.varint() }, () => from.text())
    const places = new Uint32Array(count)
    if (list.length > 1) for (let nth = 0; nth < count; nth++) places[nth] = from.varint()
    return columnOf(count, (nth) => list[places[nth] ?? 0] ?? '')
  },
}

/** Values that are numbers in other words; `stepwise` writes each as its distance from the one before. */
const numbers = (
  toNumber: (value: string) => number | undefined,
  toText: (number: number) => string,
  stepwise: boolean,
): ColumnForm => ({
  write(values) {
    const out = new ByteWriter()
    let before = 0
    for (const value of values) {
      const number = toNumber(value)
      if (number === undefined) return undefined
      if (stepwise) out.step(number - before)
      else out.varint(number)
      before = number
    }
    return out.done()
  },
  read(bytes, count) {
    const from = new ByteReader(bytes)
    const all = new Float64Array(count)
    let before = 0
    for (let nth = 0; nth < count; nth++)
      all[nth] = before = stepwise ? before + from.step() : from.varint()
    return columnOf(count, (nth) => toText(all[nth] ?? Number.NaN))
  },
})

// Half of the safe integers: a step from one to another is a safe integer too.
const WHOLE = /^(?:0|[1-9]\d{0,14})$/
const wholeOf = (value: string) => (WHOLE.test(value) ? Number(value) : undefined)

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const timeOf = (ms: number) => new Date(ms).toISOString()
function msOf(value: string): number | undefined {
  const ms = TIME.test(value) ? Date.parse(value) : Number.NaN
  return ms >= 0 && timeOf(ms) === value ? ms : undefined
}

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'
const ID = /^([a-z]+_)([0-7][0-9a-hjkmnp-tv-z]{9})([0-9a-hjkmnp-tv-z]{16})$/
const ID_BYTES = 10
const timePart = (digits: string) =>
  [...digits].reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0)

function timeDigits(ms: number): string {
  let digits = ''
  for (let rest = ms; digits.length < 10; rest = Math.floor(rest / 32))
    digits = (CROCKFORD[rest % 32] ?? '') + digits
  return digits
}

/** Sixteen digits of five bits as ten bytes. */
function randomPart(digits: string): Buffer {
  let bits = 0n
  for (const digit of digits) bits = (bits << 5n) | BigInt(CROCKFORD.indexOf(digit))
  return Buffer.from(bits.toString(16).padStart(2 * ID_BYTES, '0'), 'hex')
}

function randomDigits(bytes: Buffer): string {
  let digits = ''
  for (let at = 0; at < ID_BYTES; at += 5) {
    let five = bytes.readUIntBE(at, 5)
    let half = ''
    for (; half.length < 8; five = Math.floor(five / 32)) half = (CROCKFORD[five % 32] ?? '') + half
    digits += half
  }
  return digits
}

/** Ids of one prefix (base/ids.ts): their times by steps, then what is random in them. */
const ids: ColumnForm = {
  write(values) {
    const found = values.map((value) => ID.exec(value))
    const prefix = found[0]?.[1] ?? ''
    const out = new ByteWriter()
    out.text(prefix)
    let before = 0
    for (const id of found) {
      if (id?.[1] !== prefix) return undefined
      const ms = timePart(id[2] ?? '')
      out.step(ms - before)
      before = ms
    }
    for (const id of found) out.bytes(randomPart(id?.[3] ?? ''))
    return out.done()
  },
  read(bytes, count) {
    const from = new ByteReader(bytes)
    const prefix = from.text()
    const times = new Float64Array(count)
    let ms = 0
    for (let nth = 0; nth < count; nth++) times[nth] = ms += from.step()
    const random = from.bytes(ID_BYTES * count)
    const randomAt = (nth: number) => random.subarray(ID_BYTES * nth, ID_BYTES * (nth + 1))
    const at = (nth: number) => prefix + timeDigits(times[nth] ?? 0) + randomDigits(randomAt(nth))
    return {
      at,
      // The search compares times, as numbers: an id that is made for each comparison costs fifty times as much.
      find(value) {
        const sought = timePart(ID.exec(value)?.[2] ?? '')
        let nth = times.indexOf(sought)
        while (nth >= 0 && at(nth) !== value) nth = times.indexOf(sought, nth + 1)
        return nth
      },
    }
  },
}

/** Base64 of bytes that are equally many in each value: salts. */
const base64: ColumnForm = {
  write(values) {
    const length = values[0]?.length ?? 0
    const out = new ByteWriter()
    out.varint(Buffer.from(values[0] ?? '', 'base64url').length)
    for (const value of values) {
      const bytes = Buffer.from(value, 'base64url')
      if (value.length !== length || bytes.toString('base64url') !== value) return undefined
      out.bytes(bytes)
    }
    return out.done()
  },
  read(bytes, count) {
    const from = new ByteReader(bytes)
    const length = from.varint()
    const all = from.bytes(length * count)
    return columnOf(count, (nth) =>
      all.subarray(length * nth, length * (nth + 1)).toString('base64url'),
    )
  },
}

// The place of a form is its number, which bundles hold for ever: a new form comes at the end.
const FORMS: readonly ColumnForm[] = [
  words,
  numbers(wholeOf, String, false),
  numbers(wholeOf, String, true),
  numbers(msOf, timeOf, true),
  ids,
  base64,
]

/** The smallest form of a column. */
export function writeColumn(values: readonly string[]): WrittenColumn {
  const written = FORMS.flatMap(({ write }, form) => {
    const bytes = write(values)
    return bytes === undefined ? [] : [{ form, ...compressed(bytes) }]
  })
  return written.reduce((best, next) => (next.bytes.length < best.bytes.length ? next : best))
}

/** A column that writeColumn() wrote. */
export function readColumn(
  { form, isCompressed, bytes }: WrittenColumn,
  count: number,
): ReadColumn {
  const known = FORMS[form]
  if (known === undefined) throw new RangeError(`A column has an unknown form: ${form}`)
  return known.read(isCompressed ? zstdDecompressSync(bytes) : bytes, count)
}

/** Compresses bytes where the result is shorter: random bytes only grow. */
export function compressed(bytes: Buffer): Pick<WrittenColumn, 'isCompressed' | 'bytes'> {
  const short = zstdCompressSync(bytes)
  return short.length < bytes.length
    ? { isCompressed: true, bytes: short }
    : { isCompressed: false, bytes }
}
