// Every byte of a segment is flipped: all other records are read as they were written, the damaged one is
// missing by its number, and none is invented. ERGON_LONG=1 flips every bit too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { chargeText } from './charge-text.ts'
import {
  encodeHeader,
  encodeRecord,
  endOfRecord,
  readHeader,
  readRecord,
  SEGMENT_HEADER_BYTES,
  type JournalRecord,
} from './journal-record.ts'
import { decodeSegment, lastOf, type Segment } from './journal-segment.ts'

const SESSION = 'gw-1.7'
const COUNT = 6
const ZEROS = 700
const SECTOR = 512
const debits = [{ wallet: 'money:acct_1', amount: 12n }]
const encoded = Array.from({ length: COUNT }, (_, index) => {
  const [bytes, seq] = [chargeText(chargeOf(index + 1)), BigInt(index + 1)]
  return encodeRecord({ seq, kind: 'charge', bytes, debits })
})
const whole = Buffer.concat([encodeHeader(SESSION), ...encoded, Buffer.alloc(ZEROS)])
const starts = encoded.map((_, index) => {
  const before = encoded.slice(0, index)
  return SEGMENT_HEADER_BYTES + before.reduce((sum, { length }) => sum + length, 0)
})
const end = whole.length - ZEROS

type Decode = (bytes: Buffer) => Segment | undefined

/** Checks how a segment was read after its record `damaged` was spoiled. Returns a wrong result in words. */
function faultOf(read: Segment | undefined, damaged: number): string | undefined {
  if (read?.session !== SESSION) return 'the session is not known'
  const isRight = (record: JournalRecord) =>
    encoded[Number(record.seq) - 1]?.equals(encodeRecord(record)) === true
  if (!read.records.every(isRight)) return 'a record is not as it was written'
  const seqs = read.records.map(({ seq }) => Number(seq) - 1)
  const expected = encoded.map((_, index) => index).filter((index) => index !== damaged)
  if (seqs.join() !== expected.join()) return `records ${seqs.join()}`
  if (read.isDamaged !== damaged >= 0) return `isDamaged ${read.isDamaged}`
  const tail = damaged === COUNT - 1 ? 1 : 0
  return read.damagedTail.length === tail ? undefined : `a tail of ${read.damagedTail.length}`
}

/** The faults of a reader at every byte of the segment, with the masks that a byte is spoiled by. */
function faultsOf(decode: Decode, masksAt: (at: number) => readonly number[]): string[] {
  const faults: string[] = []
  for (let at = 0; at < whole.length; at++)
    for (const mask of masksAt(at)) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ mask
      const damaged = at < end ? starts.findLastIndex((start) => start <= at) : -1
      const fault = faultOf(decode(bytes), damaged)
      if (fault !== undefined) faults.push(`byte ${at} by ${mask}: ${fault}`)
    }
  return faults
}

const BITS = [1, 2, 4, 8, 16, 32, 64, 128]
const isLong = process.env['ERGON_LONG'] === '1'
const masksAt = (at: number) => [255, ...(isLong ? BITS : [BITS[at % 8] ?? 1])]

test('a flipped byte takes its own record, by its number, and no other', () => {
  assert.deepEqual(faultsOf(decodeSegment, masksAt), [])
})

/** The place of the number of the first record. */
const NUMBER_AT = SEGMENT_HEADER_BYTES + 8

test('a flipped byte of a last record that ends with a sector does not look torn', () => {
  const room = encodeRecord({ seq: 1n, kind: 'charge', bytes: Buffer.alloc(0), debits })
  const bytes = Buffer.alloc(3 * SECTOR - SEGMENT_HEADER_BYTES - room.length, 'x')
  const last = encodeRecord({ seq: 1n, kind: 'charge', bytes, debits })
  const segment = Buffer.concat([encodeHeader(SESSION), last, Buffer.alloc(ZEROS)])
  for (let at = SEGMENT_HEADER_BYTES; at < segment.length - ZEROS; at++)
    for (const mask of masksAt(at)) {
      const flipped = Buffer.from(segment)
      flipped[at] = (flipped[at] ?? 0) ^ mask
      const read = decodeSegment(flipped)
      const byte = `byte ${at} by ${mask}`
      assert.ok(read?.isDamaged === true && read.damagedTail.length === 1, byte)
      assert.equal(lastOf(read, 0n), 1n, `${byte}: it is lost unless it is posted`)
      const isOfNumber = at >= NUMBER_AT && at < NUMBER_AT + 8
      // A damaged number could be any number: one record too many is reported as lost.
      assert.equal(lastOf(read, 1n), isOfNumber ? 2n : 1n, `${byte}: it is posted`)
    }
})

/** Readers that are wrong: what to do at a record that cannot be read. */
const WRONG: Readonly<Record<string, (bytes: Buffer, at: number) => number | undefined>> = {
  'stops at the first damaged record': () => undefined,
  'believes the length of a damaged record': endOfRecord,
}
for (const [name, next] of Object.entries(WRONG))
  test(`the harness finds a reader that ${name}`, () => {
    const decode: Decode = (bytes) => {
      const right = decodeSegment(bytes)
      const records: JournalRecord[] = []
      let at = readHeader(bytes)?.end
      while (at !== undefined && at < end) {
        const found = readRecord(bytes, at)
        if (found !== undefined) records.push(found.record as JournalRecord)
        at = found === undefined ? next(bytes, at) : found.end
      }
      return right && { ...right, records }
    }
    assert.notDeepEqual(
      faultsOf(decode, () => [255]),
      [],
    )
  })

test('last records that a power cut left in part are no damage, wherever it cuts', () => {
  for (let cut = SECTOR; cut < end; cut += SECTOR) {
    const bytes = Buffer.from(whole).fill(0, cut)
    const read = decodeSegment(bytes)
    const before = starts.filter((start, index) => start + (encoded[index]?.length ?? 0) <= cut)
    assert.equal(read?.records.length, before.length, `cut at ${cut}`)
    assert.deepEqual([read.isDamaged, read.damagedTail], [false, []], `cut at ${cut}`)
  }
})

test('a sector of the last record that was not written is no damage', () => {
  for (let from = SECTOR * Math.ceil((starts.at(-1) ?? 0) / SECTOR); from < end; from += SECTOR) {
    const read = decodeSegment(Buffer.from(whole).fill(0, from, from + SECTOR))
    assert.equal(read?.records.length, COUNT - 1)
    assert.deepEqual([read.isDamaged, read.damagedTail], [false, []], `sector at ${from}`)
  }
})

test('records behind a hole that a power cut left are found, and the hole is no damage', () => {
  const hole = Buffer.from(whole).fill(0, starts[1], starts[3])
  const { records = [], isDamaged } = decodeSegment(hole) ?? {}
  assert.deepEqual(
    records.map(({ seq }) => seq),
    [1n, 4n, 5n, 6n],
  )
  assert.equal(isDamaged, false)
})

test('a record with a number that came before is not taken, though it lies behind damage', () => {
  const [one, two, three, four] = encoded.map((record) => Buffer.from(record))
  assert.ok(one && two && three && four)
  three[40] = 255
  const bytes = Buffer.concat([encodeHeader(SESSION), one, two, three, one, two, four])
  const { records = [], isDamaged } = decodeSegment(bytes) ?? {}
  assert.deepEqual(
    records.map(({ seq }) => seq),
    [1n, 2n, 4n],
  )
  assert.equal(isDamaged, true)
})

test('two damaged records at the end are both told, by the numbers of their heads', () => {
  const bytes = Buffer.from(whole)
  for (const start of starts.slice(-2)) bytes[start + 40] = 255
  const { records = [], damagedTail } = decodeSegment(bytes) ?? {}
  assert.deepEqual([records.length, damagedTail], [COUNT - 2, [5n, 6n]])
})
