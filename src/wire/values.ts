// Binary forms of the types that frequent queries use (PostgreSQL's *send and *recv functions), as JavaScript values
// that the driver `pg` would give for the same column.
import type { MessageWriter } from './message-writer.ts'
import { ProtocolError } from './wire-errors.ts'

export type Codec = {
  /** Throws a TypeError for a value that is not of the type. */
  write(writer: MessageWriter, value: unknown): void
  /** The value; the bytes are valid only during the call. */
  read(bytes: Buffer, start: number, end: number): unknown
}

const text: Codec = {
  write: (writer, value) => writer.text(asText(value)),
  read: (bytes, start, end) => bytes.toString('utf8', start, end),
}

const int4: Codec = {
  write(writer, value) {
    if (!Number.isInteger(value)) throw wrong('an integer', value)
    writer.int32(Number(value))
  },
  read: (bytes, start, end) => bytes.readInt32BE(sized(start, end, 4)),
}

const int8: Codec = {
  write(writer, value) {
    if (typeof value === 'bigint') return writer.int64(value)
    const digits = asText(value)
    if (!/^-?\d{1,19}$/.test(digits)) throw wrong('an integer', value)
    writer.int64(BigInt(digits))
  },
  read: (bytes, start, end) => String(bytes.readBigInt64BE(sized(start, end, 8))),
}

const float8: Codec = {
  write(writer, value) {
    if (typeof value !== 'number') throw wrong('a number', value)
    writer.float64(value)
  },
  read: (bytes, start, end) => bytes.readDoubleBE(sized(start, end, 8)),
}

const bool: Codec = {
  write(writer, value) {
    if (typeof value !== 'boolean') throw wrong('a boolean', value)
    writer.byte(value ? 1 : 0)
  },
  read(bytes, start, end) {
    const byte = bytes[sized(start, end, 1)]
    if (byte !== 0 && byte !== 1) throw new ProtocolError('The server sent a boolean of no value')
    return byte === 1
  },
}

const bytea: Codec = {
  write(writer, value) {
    if (!(value instanceof Uint8Array)) throw wrong('bytes', value)
    writer.bytes(value)
  },
  read: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)),
}

const json: Codec = {
  write: text.write,
  read: (bytes, start, end) => JSON.parse(bytes.toString('utf8', start, end)) as unknown,
}

/** The number of the form comes first. */
const jsonb: Codec = {
  write(writer, value) {
    writer.byte(1)
    text.write(writer, value)
  },
  read(bytes, start, end) {
    if (bytes[start] !== 1) throw new ProtocolError('The server sent jsonb of an unknown form')
    return json.read(bytes, start + 1, end)
  },
}

const EPOCH_MS = 946_684_800_000
const US_MAX = 2n ** 63n - 1n
const US_MIN = -(2n ** 63n)

/** Microseconds since 2000, cut to milliseconds. */
const timestamptz: Codec = {
  write(writer, value) {
    if (!(value instanceof Date)) throw wrong('a time', value)
    writer.int64(BigInt(value.getTime() - EPOCH_MS) * 1000n)
  },
  read(bytes, start, end) {
    sized(start, end, 8)
    const us = bytes.readBigInt64BE(start)
    if (us === US_MAX) return Infinity
    if (us === US_MIN) return -Infinity
    // Down, also before 2000, where the division of whole numbers goes up.
    const rest = us % 1000n
    return new Date(Number((rest < 0n ? us - 1000n : us) / 1000n) + EPOCH_MS)
  },
}

/** Functions that return nothing. */
const nothing: Codec = {
  write: (_, value) => {
    throw wrong('nothing', value)
  },
  read: () => '',
}

const TEXT = 25
const INT4 = 23
const INT8 = 20

const CODECS: ReadonlyMap<number, Codec> = new Map([
  [16, bool],
  [17, bytea],
  [19, text],
  [INT8, int8],
  [INT4, int4],
  [TEXT, text],
  [114, json],
  [701, float8],
  [1007, arrayOf(INT4, int4)],
  [1009, arrayOf(TEXT, text)],
  [1016, arrayOf(INT8, int8)],
  [1043, text],
  [1184, timestamptz],
  [2278, nothing],
  [3802, jsonb],
])

/** The codec of a type by its OID. Throws a TypeError for types without one. */
export function codecOf(oid: number): Codec {
  const codec = CODECS.get(oid)
  if (codec === undefined) throw new TypeError(`The type has no binary form here: ${oid}`)
  return codec
}

/** Arrays of one dimension. */
function arrayOf(oid: number, item: Codec): Codec {
  return {
    write(writer, value) {
      if (!Array.isArray(value)) throw wrong('an array', value)
      writer.int32(value.length === 0 ? 0 : 1)
      writer.int32(value.includes(null) ? 1 : 0)
      writer.int32(oid)
      if (value.length === 0) return
      writer.int32(value.length)
      writer.int32(1)
      for (const one of value) writeValue(writer, item, one)
    },
    read: (bytes, start, end) => readArray(bytes.subarray(start, end), oid, item),
  }
}

/** Number of dimensions, whether there are nulls, and the type of the items; then, for each dimension, count and start. */
function readArray(bytes: Buffer, oid: number, item: Codec): unknown[] {
  const end = bytes.length
  const dimensions = bytes.readInt32BE(0)
  const isEmpty = dimensions === 0
  if (bytes.readInt32BE(8) !== oid || !(isEmpty || dimensions === 1))
    throw new ProtocolError('The server sent an array of another type or of several dimensions')
  const count = isEmpty ? 0 : bytes.readInt32BE(12)
  if (count < 0) throw new ProtocolError('The server sent an array of no count')
  const values: unknown[] = []
  let at = isEmpty ? 12 : 20
  for (let nth = 0; nth < count; nth++) {
    const length = lengthAt(bytes, at)
    at += 4
    values.push(length < 0 ? null : item.read(bytes, at, (at += length)))
  }
  if (at !== end) throw new ProtocolError('The server sent an array that is not of its length')
  return values
}

/** A value with its length; null has the length -1. */
export function writeValue(writer: MessageWriter, codec: Codec, value: unknown): void {
  if (value === null || value === undefined) return writer.int32(-1)
  const place = writer.beginValue()
  codec.write(writer, value)
  writer.endValue(place)
}

/**
 * The length of a value, -1 for null. A value that is cut is read into the next message: the caller finds that the place
 * after the last value is not the end, and refuses all of them.
 */
export function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at)
  if (length < -1) throw new ProtocolError(`The server sent a value of ${length} bytes`)
  return length
}

function sized(start: number, end: number, bytes: number): number {
  if (end - start !== bytes)
    throw new ProtocolError(`The server sent ${end - start} bytes for a value of ${bytes}`)
  return start
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  throw wrong('a text', value)
}

const wrong = (wanted: string, value: unknown) =>
  new TypeError(`The parameter is not ${wanted}: ${typeof value}`)
