// The journal's bytes. A segment starts with its header twice, then come the records:
//   u32le length ‖ u32le crc32c of the rest ‖ u64le seq ‖ u8 kind ‖ payload
// `length` counts the bytes after the checksum; 0 is the end (segments are preallocated with zeros).
import { crc32c } from '#base/crc32c.ts'
import { invariant } from '#base/errors.ts'
import type { Debit, TickRecord } from '#ledger/tick.ts'

/** A record that the ledger will have. `debits` are the wallets that a charge takes its price from. */
export type JournalRecord = TickRecord & { readonly debits: readonly Debit[] }
export type RecordKind = JournalRecord['kind']

/**
 * A record before it is bytes. A `provisional` charge stands until a charge of the same receipt follows; it
 * has no number of its own, so that is 0.
 */
export type NewRecord = {
  readonly seq: bigint
  readonly kind: RecordKind | 'provisional'
  /** Text is encoded as UTF-8. */
  readonly bytes: string | Uint8Array
  readonly debits: readonly Debit[]
}

const MAGIC = 'ergonjl2'
/** The format without a checksum in the header, whose single copy has 64 bytes. */
const MAGIC_1 = 'ergonjl1'
const COPY_BYTES = 64
const CRC_BYTES = 4
/** Bytes that a segment's header takes: two copies, so that no damaged byte hides whose the records are. */
export const SEGMENT_HEADER_BYTES = 2 * COPY_BYTES
const PREFIX_BYTES = 8
const FIXED_BYTES = 9
/** Up to the payload. */
export const RECORD_HEAD_BYTES = PREFIX_BYTES + FIXED_BYTES
const KINDS: Record<NewRecord['kind'], number> = { charge: 1, window: 2, provisional: 3 }
const KIND_NAMES = new Map<number | undefined, NewRecord['kind']>([
  [1, 'charge'],
  [2, 'window'],
  [3, 'provisional'],
])
const KIND_AT = 16
/** The payload begins with the debits, a JSON list. */
const LIST = '['.charCodeAt(0)

/** The header of a segment: magic, version and session id with NULs, and their checksum, twice. */
export function encodeHeader(session: string): Buffer {
  const text = `${MAGIC} ${session}`
  const room = COPY_BYTES - CRC_BYTES
  invariant(text.length <= room, `session id too long for a journal header: ${session}`)
  const copy = Buffer.alloc(COPY_BYTES)
  copy.write(text, 'latin1')
  copy.writeUInt32LE(crc32c(copy.subarray(0, room)), room)
  return Buffer.concat([copy, copy])
}

/** The session of the records, and where they begin; undefined when no copy of the header is whole. */
export function readHeader(bytes: Buffer): { session: string; end: number } | undefined {
  for (const at of [0, COPY_BYTES]) {
    const copy = bytes.subarray(at, at + COPY_BYTES)
    if (copy.length < COPY_BYTES) return undefined
    const room = COPY_BYTES - CRC_BYTES
    if (crc32c(copy.subarray(0, room)) !== copy.readUInt32LE(room)) continue
    const session = sessionOf(copy.toString('latin1', 0, room), MAGIC)
    if (session !== undefined) return { session, end: SEGMENT_HEADER_BYTES }
  }
  const session = sessionOf(bytes.toString('latin1', 0, COPY_BYTES), MAGIC_1)
  return session === undefined ? undefined : { session, end: COPY_BYTES }
}

/** The header was never written, or was erased: one damaged byte leaves the other copy empty. */
export const isErased = (bytes: Buffer): boolean =>
  [0, COPY_BYTES].some((at) => bytes.subarray(at, at + COPY_BYTES).every((byte) => byte === 0))

function sessionOf(text: string, magic: string): string | undefined {
  return text.startsWith(`${magic} `) ? text.slice(magic.length + 1).replace(/\0+$/, '') : undefined
}

/** The most bytes that a record can take. */
export const recordBytesMax = ({ bytes, debits }: NewRecord): number =>
  RECORD_HEAD_BYTES +
  // UTF-8 has at most three bytes for each UTF-16 unit.
  3 * bytes.length +
  debits.reduce((sum, { wallet }) => sum + 6 * wallet.length + DEBIT_BYTES_MAX, 3)
/** Quotes, brackets, commas and the digits of an amount below 2¹²⁸. */
const DEBIT_BYTES_MAX = 48

/**
 * Writes a record into a buffer with room for it; returns where its content begins and ends. The payload is the
 * debits as one JSON line, then the content: a receipt does not say which lease paid, but a replay needs that.
 */
export function writeRecord(
  into: Buffer,
  at: number,
  { seq, kind, bytes, debits }: NewRecord,
): { readonly from: number; readonly end: number } {
  into.writeBigUInt64LE(seq, at + PREFIX_BYTES)
  into[at + KIND_AT] = KINDS[kind]
  const from = at + RECORD_HEAD_BYTES + into.write(lineOf(debits), at + RECORD_HEAD_BYTES)
  const end = from + put(into, from, bytes)
  into.writeUInt32LE(end - at - PREFIX_BYTES, at)
  into.writeUInt32LE(crc32c(into.subarray(at + PREFIX_BYTES, end)), at + 4)
  return { from, end }
}

const lineOf = (debits: readonly Debit[]): string =>
  debits.length === 0
    ? '[]\n'
    : `${JSON.stringify(debits.map(({ wallet, amount }) => [wallet, amount.toString()]))}\n`

function put(into: Buffer, at: number, bytes: string | Uint8Array): number {
  if (typeof bytes === 'string') return into.write(bytes, at)
  into.set(bytes, at)
  return bytes.length
}

/** A record as bytes of its own. */
export function encodeRecord(record: NewRecord): Buffer {
  const buffer = Buffer.alloc(recordBytesMax(record))
  return buffer.subarray(0, writeRecord(buffer, 0, record).end)
}

/** Where a record that begins here ends by its length; undefined when that cannot be. */
export function endOfRecord(bytes: Buffer, at: number): number | undefined {
  if (at + RECORD_HEAD_BYTES > bytes.length) return undefined
  const length = bytes.readUInt32LE(at)
  const end = at + PREFIX_BYTES + length
  return length < FIXED_BYTES || end > bytes.length ? undefined : end
}

/** The number in the head of a record that begins here, damaged or not; undefined for a provisional charge. */
export function numberInHead(bytes: Buffer, at: number): bigint | undefined {
  const seq = bytes.readBigUInt64LE(at + PREFIX_BYTES)
  // Both, so that one damaged byte makes no charge a provisional one, whose loss no number tells.
  return seq === 0n && bytes[at + KIND_AT] === KINDS.provisional ? undefined : seq
}

/** The checksum of the record from `at` to `end` holds. */
export const checksumHolds = (bytes: Buffer, at: number, end: number): boolean =>
  crc32c(bytes.subarray(at + PREFIX_BYTES, end)) === bytes.readUInt32LE(at + 4)

/** The record that begins here; undefined when none does, or its checksum does not hold. */
export function readRecord(
  bytes: Buffer,
  at: number,
): { record: ReadRecord; end: number } | undefined {
  const end = endOfRecord(bytes, at)
  if (end === undefined || !checksumHolds(bytes, at, end)) return undefined
  return { record: decodeRecord(bytes.subarray(at + PREFIX_BYTES, end)), end }
}

/** A record may begin at `at`: a cheap test, before the checksum is computed. */
export function mayBeRecord(bytes: Buffer, at: number): boolean {
  return (
    KIND_NAMES.has(bytes[at + KIND_AT]) &&
    bytes[at + RECORD_HEAD_BYTES] === LIST &&
    // The upper half of a sequence number: JSON has no NUL, so what a caller wrote never looks like this.
    bytes.readUInt32LE(at + 12) === 0
  )
}

/** A record began at `at` before it was damaged: most of its fields still look like a record's. */
export function wasRecord(bytes: Buffer, at: number): boolean {
  if (at + RECORD_HEAD_BYTES >= bytes.length) return false
  const signs = [
    endOfRecord(bytes, at) !== undefined,
    bytes.readUInt32LE(at + 4) !== 0,
    bytes.readUInt32LE(at + 8) !== 0 && bytes.readUInt32LE(at + 12) === 0,
    KIND_NAMES.has(bytes[at + KIND_AT]),
    bytes[at + RECORD_HEAD_BYTES] === LIST,
  ]
  return signs.filter(Boolean).length >= 3
}

/** A record as it was read. */
export type ReadRecord = Omit<JournalRecord, 'kind'> & { readonly kind: NewRecord['kind'] }

function decodeRecord(bytes: Buffer): ReadRecord {
  const newline = bytes.indexOf(10, FIXED_BYTES)
  const kind = KIND_NAMES.get(bytes.readUInt8(8))
  invariant(kind !== undefined, `a journal record of kind ${bytes.readUInt8(8)}`)
  const debits = JSON.parse(bytes.toString('utf8', FIXED_BYTES, newline)) as [string, string][]
  return {
    seq: bytes.readBigUInt64LE(0),
    kind,
    debits: debits.map(([wallet, amount]) => ({ wallet, amount: BigInt(amount) })),
    bytes: Buffer.from(bytes.subarray(newline + 1)),
  }
}
