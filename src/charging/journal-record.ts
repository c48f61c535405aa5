// The journal's bytes. A segment starts with a header (magic, version, session id), then records:
//   u32le length ‖ u32le crc32c of the rest ‖ u64le seq ‖ u8 kind ‖ payload
// `length` counts what follows the crc; 0 is the end (segments are preallocated with zeros). A record
// that is cut or fails its crc ends the segment: it was never acknowledged.
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

const MAGIC = 'ergonjl1'
const HEADER_BYTES = 64
const PREFIX_BYTES = 8
const FIXED_BYTES = 9
const KINDS: Record<RecordKind, number> = { charge: 1, window: 2 }

/** The header of a segment: 64 bytes, NUL-padded. */
export function encodeHeader(session: string): Buffer {
  const text = `${MAGIC} ${session}`
  invariant(text.length <= HEADER_BYTES, `session id too long for a journal header: ${session}`)
  return Buffer.from(text.padEnd(HEADER_BYTES, '\0'), 'latin1')
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
  line.copy(buffer, 17)
  buffer.set(record.bytes, 17 + line.length)
  buffer.writeUInt32LE(crc32c(buffer.subarray(8)), 4)
  return buffer
}

export type Segment = {
  readonly session: string
  readonly records: readonly JournalRecord[]
  /** How the records end: at zeros or the end of the file, or at a record that is cut or damaged. */
  readonly end: 'clean' | 'torn'
}

/** Reads a segment; undefined when it has no whole header (it was being made when the power went). */
export function decodeSegment(bytes: Buffer): Segment | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  const header = bytes.toString('latin1', 0, HEADER_BYTES).replace(/\0+$/, '')
  if (!header.startsWith(`${MAGIC} `)) return undefined
  const session = header.slice(MAGIC.length + 1)
  const records: JournalRecord[] = []
  let at = HEADER_BYTES
  while (at + PREFIX_BYTES + FIXED_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at)
    if (length === 0) return { session, records, end: 'clean' }
    const end = at + PREFIX_BYTES + length
    if (length < FIXED_BYTES || end > bytes.length) return { session, records, end: 'torn' }
    if (crc32c(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4))
      return { session, records, end: 'torn' }
    records.push(decodeRecord(bytes.subarray(at + 8, end)))
    at = end
  }
  return { session, records, end: 'clean' }
}

function decodeRecord(bytes: Buffer): JournalRecord {
  const newline = bytes.indexOf(10, 9)
  const kind = bytes.readUInt8(8)
  invariant(kind === KINDS.charge || kind === KINDS.window, `a journal record of kind ${kind}`)
  const debits = JSON.parse(bytes.toString('utf8', 9, newline)) as [string, string][]
  return {
    seq: bytes.readBigUInt64LE(0),
    kind: kind === KINDS.charge ? 'charge' : 'window',
    debits: debits.map(([wallet, amount]) => ({ wallet, amount: BigInt(amount) })),
    bytes: Buffer.from(bytes.subarray(newline + 1)),
  }
}

export const SEGMENT_HEADER_BYTES = HEADER_BYTES
