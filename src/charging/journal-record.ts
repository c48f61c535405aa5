// The journal's bytes. A segment starts with its header twice, then come the records:
//   u32le length ‖ u32le crc32c of the rest ‖ u64le seq ‖ u8 kind ‖ payload
// `length` counts what follows the crc; 0 is the end (segments are preallocated with zeros).
import { crc32c } from '#base/crc32c.ts'
import { invariant } from '#base/errors.ts'

export type RecordKind = 'charge' | 'window'

/** One journaled record. `debits` are the wallets that a charge takes its price from. */
export type JournalRecord = {
  readonly seq: bigint
  readonly kind: RecordKind
  readonly bytes: Uint8Array
  readonly debits: readonly Debit[]
}
export type Debit = { readonly wallet: string; readonly amount: bigint }

const MAGIC = 'ergonjl2'
/** Before the checksum: one header without it, of 64 bytes. */
const MAGIC_1 = 'ergonjl1'
const COPY_BYTES = 64
const CRC_BYTES = 4
/** Bytes that a segment's header takes: two copies, so that no damaged byte hides whose the records are. */
export const SEGMENT_HEADER_BYTES = 2 * COPY_BYTES
const PREFIX_BYTES = 8
const FIXED_BYTES = 9
/** Up to the payload. */
export const RECORD_HEAD_BYTES = PREFIX_BYTES + FIXED_BYTES
const KINDS: Record<RecordKind, number> = { charge: 1, window: 2 }
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

/** Whose records follow, and where; undefined when no copy of the header is whole. */
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

/** Whether a header was never written, or was erased: one damaged byte leaves the other copy empty. */
export const isErased = (bytes: Buffer): boolean =>
  [0, COPY_BYTES].some((at) => bytes.subarray(at, at + COPY_BYTES).every((byte) => byte === 0))

function sessionOf(text: string, magic: string): string | undefined {
  return text.startsWith(`${magic} `) ? text.slice(magic.length + 1).replace(/\0+$/, '') : undefined
}

/**
 * A record as bytes. The payload is the debits as one JSON line, then the record's own bytes: what
 * was taken from which lease is not on the receipt, but a replay needs it.
 */
export function encodeRecord(record: JournalRecord): Buffer {
  const debits = record.debits.map((debit) => [debit.wallet, debit.amount.toString()])
  const line = Buffer.from(`${JSON.stringify(debits)}\n`, 'utf8')
  const length = FIXED_BYTES + line.length + record.bytes.length
  const buffer = Buffer.allocUnsafe(PREFIX_BYTES + length)
  buffer.writeUInt32LE(length, 0)
  buffer.writeBigUInt64LE(record.seq, 8)
  buffer.writeUInt8(KINDS[record.kind], 16)
  line.copy(buffer, RECORD_HEAD_BYTES)
  buffer.set(record.bytes, RECORD_HEAD_BYTES + line.length)
  buffer.writeUInt32LE(crc32c(buffer.subarray(8)), 4)
  return buffer
}

/** Where a record that begins here ends by its length; undefined when that cannot be. */
export function endOfRecord(bytes: Buffer, at: number): number | undefined {
  if (at + RECORD_HEAD_BYTES > bytes.length) return undefined
  const length = bytes.readUInt32LE(at)
  const end = at + PREFIX_BYTES + length
  return length < FIXED_BYTES || end > bytes.length ? undefined : end
}

/** The number in the head of a record that begins here, damaged or not. */
export const numberInHead = (bytes: Buffer, at: number): bigint =>
  bytes.readBigUInt64LE(at + PREFIX_BYTES)

/** Whether the checksum of the record that begins here holds, when the record ends at `end`. */
export const checksumHolds = (bytes: Buffer, at: number, end: number): boolean =>
  crc32c(bytes.subarray(at + PREFIX_BYTES, end)) === bytes.readUInt32LE(at + 4)

/** The record that begins here; undefined when none does, or its checksum does not hold. */
export function readRecord(
  bytes: Buffer,
  at: number,
): { record: JournalRecord; end: number } | undefined {
  const end = endOfRecord(bytes, at)
  if (end === undefined || !checksumHolds(bytes, at, end)) return undefined
  return { record: decodeRecord(bytes.subarray(at + PREFIX_BYTES, end)), end }
}

/** Whether a record may begin here: a cheap look, before the checksum is computed. */
export function mayBeRecord(bytes: Buffer, at: number): boolean {
  const kind = bytes[at + 16]
  return (
    (kind === KINDS.charge || kind === KINDS.window) &&
    bytes[at + RECORD_HEAD_BYTES] === LIST &&
    // The upper half of a sequence number: JSON has no NUL, so what a caller wrote never looks like this.
    bytes.readUInt32LE(at + 12) === 0
  )
}

/** Whether a record began here before it was damaged: most of its fields still look like a record's. */
export function wasRecord(bytes: Buffer, at: number): boolean {
  if (at + RECORD_HEAD_BYTES >= bytes.length) return false
  const kind = bytes[at + 16]
  const signs = [
    endOfRecord(bytes, at) !== undefined,
    bytes.readUInt32LE(at + 4) !== 0,
    bytes.readUInt32LE(at + 8) !== 0 && bytes.readUInt32LE(at + 12) === 0,
    kind === KINDS.charge || kind === KINDS.window,
    bytes[at + RECORD_HEAD_BYTES] === LIST,
  ]
  return signs.filter(Boolean).length >= 3
}

function decodeRecord(bytes: Buffer): JournalRecord {
  const newline = bytes.indexOf(10, FIXED_BYTES)
  const kind = bytes.readUInt8(8)
  invariant(kind === KINDS.charge || kind === KINDS.window, `a journal record of kind ${kind}`)
  const debits = JSON.parse(bytes.toString('utf8', FIXED_BYTES, newline)) as [string, string][]
  return {
    seq: bytes.readBigUInt64LE(0),
    kind: kind === KINDS.charge ? 'charge' : 'window',
    debits: debits.map(([wallet, amount]) => ({ wallet, amount: BigInt(amount) })),
    bytes: Buffer.from(bytes.subarray(newline + 1)),
  }
}
