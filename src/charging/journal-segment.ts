// Reads a segment of the journal, damaged or not. Every record whose checksum holds is found, also
// behind others that were damaged: what is missing shows in the numbers. Sectors of zeros are no damage:
// a power cut leaves them where the last records were not synced.
import {
  checksumHolds,
  endOfRecord,
  isErased,
  mayBeRecord,
  numberInHead,
  RECORD_HEAD_BYTES,
  readHeader,
  readRecord,
  SEGMENT_HEADER_BYTES,
  wasRecord,
  type JournalRecord,
  type ReadRecord,
} from './journal-record.ts'

// The least that a disk writes as a whole.
const SECTOR_BYTES = 512
const ZEROS = Buffer.alloc(64 * 1024)

export type Segment = {
  /** '' when neither copy of the header can be read. */
  readonly session: string
  readonly records: readonly JournalRecord[]
  /** Charges that stand until a charge of the same receipt follows. */
  readonly provisional: readonly ReadRecord[]
  /** The numbers in the heads of the damaged records after the last whole one; a number may be damaged too. */
  readonly damagedTail: readonly bigint[]
  /** Some records of the segment are damaged. */
  readonly isDamaged: boolean
}

/** Reads a segment; undefined when it was being made when the power went. */
export function decodeSegment(bytes: Buffer): Segment | undefined {
  const end = contentEnd(bytes)
  if (end === 0) return undefined
  const header = readHeader(bytes)
  const read = readRecords(bytes, header?.end ?? SEGMENT_HEADER_BYTES, end)
  if (header !== undefined) return { session: header.session, ...read }
  const isEmpty = read.records.length === 0 && isErased(bytes)
  return isEmpty ? undefined : { session: '', ...read, isDamaged: true }
}

function readRecords(bytes: Buffer, from: number, end: number): Omit<Segment, 'session'> {
  const records: JournalRecord[] = []
  const provisional: ReadRecord[] = []
  let isDamaged = false
  let at = from
  while (at < end) {
    const found = readRecord(bytes, at)
    if (found === undefined) {
      const next = nextRecord(bytes, { from: at + 1, end, after: records.at(-1)?.seq ?? 0n })
      if (next === undefined) break
      isDamaged ||= !hasHole(bytes, at, next)
      at = next
    } else {
      const { kind } = found.record
      if (kind === 'provisional') provisional.push(found.record)
      else records.push({ ...found.record, kind })
      at = found.end
    }
  }
  const damaged = isTorn(bytes, at, end) ? [] : damagedHeads(bytes, at, end)
  const damagedTail = damaged
    .map((head) => numberInHead(bytes, head))
    .filter((number) => number !== undefined)
  return { records, provisional, damagedTail, isDamaged: isDamaged || damaged.length > 0 }
}

/** Where the next whole record begins. */
function nextRecord(
  bytes: Buffer,
  { from, end, after }: { from: number; end: number; after: bigint },
): number | undefined {
  for (let at = from; at + RECORD_HEAD_BYTES < end; at++) {
    if (!mayBeRecord(bytes, at)) continue
    const found = readRecord(bytes, at)
    if (found === undefined) continue
    const { kind, seq } = found.record
    if (kind === 'provisional' || seq > after) return at
  }
  return undefined
}

/**
 * A power cut may have left the record at `at` with a sector that was never written. Then a sector is all zeros, the
 * written sectors end within the head, or they end elsewhere than the length says.
 */
export function isTorn(bytes: Buffer, at: number, end: number): boolean {
  if (hasHole(bytes, at, end)) return true
  const boundary = sectorAfter(end - 1)
  if (boundary - at < RECORD_HEAD_BYTES) return true
  // A record whose checksum holds is whole: what was damaged is its length.
  return boundary === end && endOfRecord(bytes, at) !== end && !checksumHolds(bytes, at, end)
}

/** A sector was never written: a power cut may keep later sectors and lose earlier ones. */
function hasHole(bytes: Buffer, at: number, end: number): boolean {
  for (let from = at; from < end; from = sectorAfter(from))
    if (isZero(bytes.subarray(from, Math.min(sectorAfter(from), end)))) return true
  return false
}

/** Where damaged records begin, as far as their lengths can be believed. */
function damagedHeads(bytes: Buffer, from: number, end: number): number[] {
  const heads: number[] = []
  let at: number | undefined = from
  while (at !== undefined && at < end && wasRecord(bytes, at)) {
    heads.push(at)
    at = endOfRecord(bytes, at)
  }
  return heads
}

/** The number of the last record that a life had, of whose records the ledger has `posted`. */
export function lastOf(
  { records, damagedTail }: Pick<Segment, 'records' | 'damagedTail'>,
  posted: bigint,
): bigint {
  const whole = records.at(-1)?.seq
  const last =
    whole === undefined ? lastOfDamaged(damagedTail, posted) : whole + BigInt(damagedTail.length)
  return last > posted ? last : posted
}

/**
 * The last number of a life of which every record that is left is damaged. All records up to `posted` are in
 * the ledger and the damaged ones follow each other, so the last number is at most `posted` plus their count.
 * A number in a head that contradicts this was damaged; without a credible number all records count as lost.
 */
function lastOfDamaged(numbers: readonly bigint[], posted: bigint): bigint {
  const count = BigInt(numbers.length)
  const credible = numbers
    .map((number, index) => number + count - 1n - BigInt(index))
    .filter((last) => last >= count && last <= posted + count)
  return credible.length === 0
    ? posted + count
    : credible.reduce((highest, last) => (last > highest ? last : highest))
}

/** Where the zeros of the preallocated rest begin. */
export function contentEnd(bytes: Buffer): number {
  let end = bytes.length
  while (end > 0 && isZero(bytes.subarray(Math.max(0, end - ZEROS.length), end)))
    end = Math.max(0, end - ZEROS.length)
  while (end > 0 && bytes[end - 1] === 0) end--
  return end
}

const isZero = (bytes: Buffer): boolean =>
  ZEROS.compare(bytes, 0, bytes.length, 0, bytes.length) === 0
const sectorAfter = (at: number): number => (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES
