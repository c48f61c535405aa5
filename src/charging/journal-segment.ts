// Reads a segment of the journal, damaged or not. Every record whose checksum holds is found, also
// behind others that were damaged: what is missing shows in the numbers. Sectors of zeros are no damage:
// a power cut leaves them where the last records were not synced.
import {
  endOfRecord,
  isErased,
  mayBeRecord,
  RECORD_HEAD_BYTES,
  readHeader,
  readRecord,
  SEGMENT_HEADER_BYTES,
  wasRecord,
  type JournalRecord,
} from './journal-record.ts'

// The least that a disk writes as a whole.
const SECTOR_BYTES = 512
const ZEROS = Buffer.alloc(64 * 1024)

export type Segment = {
  /** '' when neither copy of the header can be read. */
  readonly session: string
  readonly records: readonly JournalRecord[]
  /** How many damaged records come after the last whole one. */
  readonly damagedTail: number
  /** Whether records were damaged in it. */
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
      records.push(found.record)
      at = found.end
    }
  }
  const damagedTail = isTorn(bytes, at, end) ? 0 : countDamaged(bytes, at, end)
  return { records, damagedTail, isDamaged: isDamaged || damagedTail > 0 }
}

/** Where the next whole record begins. */
function nextRecord(
  bytes: Buffer,
  { from, end, after }: { from: number; end: number; after: bigint },
): number | undefined {
  for (let at = from; at + RECORD_HEAD_BYTES < end; at++) {
    if (!mayBeRecord(bytes, at)) continue
    const found = readRecord(bytes, at)
    if (found !== undefined && found.record.seq > after) return at
  }
  return undefined
}

/**
 * Whether what begins here looks as a power cut leaves it: a sector of it was never written. The head of
 * a record may hold zeros itself, so one that a sector cuts in its head is always such.
 */
export function isTorn(bytes: Buffer, at: number, end: number): boolean {
  if (hasHole(bytes, at, end)) return true
  const boundary = sectorAfter(end - 1)
  if (boundary - at < RECORD_HEAD_BYTES) return true
  return boundary === end && endOfRecord(bytes, at) !== end
}

/** Whether a sector was never written, as after a power cut, which keeps later ones and not earlier. */
function hasHole(bytes: Buffer, at: number, end: number): boolean {
  for (let from = at; from < end; from = sectorAfter(from))
    if (isZero(bytes.subarray(from, Math.min(sectorAfter(from), end)))) return true
  return false
}

/** How many records there were, as far as their lengths can be believed. */
function countDamaged(bytes: Buffer, from: number, end: number): number {
  let count = 0
  for (let at: number | undefined = from; at !== undefined && at < end; count++) {
    if (!wasRecord(bytes, at)) break
    at = endOfRecord(bytes, at)
  }
  return count
}

/** The number of the last record that a life had, of whose records the ledger has `posted`. */
export function lastOf(life: Pick<Segment, 'records' | 'damagedTail'>, posted: bigint): bigint {
  const last = (life.records.at(-1)?.seq ?? posted) + BigInt(life.damagedTail)
  return last > posted ? last : posted
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
