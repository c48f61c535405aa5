// Provisional charges: the next life posts the last record of each receipt, unless the final charge is there.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import type { Ledger, TickRecord } from '#ledger/tick.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { chargeText } from './charge-text.ts'
import { createDisk, type Disk } from './disk.ts'
import { encodeHeader, encodeRecord, SEGMENT_HEADER_BYTES } from './journal-record.ts'
import { decodeSegment } from './journal-segment.ts'
import { Journal, readJournals } from './journal.ts'
import { replay } from './replay.ts'

const SESSION = 'gw-1.7'
const SEGMENT_BYTES = 8192
const DEBITS = [{ wallet: 'money:a', amount: 12n }]
const idOf = (nth: number) => chargeOf(nth).id
const stands = (nth: number, status = 200) => ({
  bytes: chargeText({ ...chargeOf(nth), status }),
  debits: DEBITS,
})
const charge = (nth: number, seq: number) =>
  ({ seq: BigInt(seq), kind: 'charge', ...stands(nth) }) as const

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-provisional-'))
  const disk = createDisk(folder)
  const failed = (error: unknown) => assert.fail(String(error))
  const options = { disk, session: SESSION, clock: systemClock, failed }
  const journal = new Journal({ ...options, segmentBytes: SEGMENT_BYTES })
  t.after(async () => {
    await journal[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  return { disk, journal }
}

/** The records that the next life posts, when the ledger has those up to `lastSeq` and the charges `has`. */
async function replayed(disk: Disk, { has = [] as string[], lastSeq = 0n } = {}) {
  const posted: TickRecord[] = []
  const known = { session: SESSION, open: true, lastSeq, lastTick: 0n, newestChange: 0n }
  const ledger = {
    findSession: async () => known,
    openSessionOf: async () => undefined,
    posted: async (ids: readonly string[]) => new Set(ids.filter((id) => has.includes(id))),
    lose: async () => undefined,
    tick: async ({ records }: { records: readonly TickRecord[] }) => {
      posted.push(...records)
      return { lastSeq: records.at(-1)?.seq }
    },
  } as unknown as Ledger
  await replay(ledger, 'gw-1', readJournals(disk), 'm1')
  return posted.map(({ seq, bytes }) => {
    const { id, status, seq: own } = parseCharge(bytes)
    assert.equal(own, seq.toString())
    return { id, status, seq: Number(seq) }
  })
}

test('a charge that was not settled is posted after the last record, as it was last told', async (t) => {
  const { disk, journal } = open(t)
  for (const nth of [3, 4, 5]) journal.provisional(idOf(nth), () => stands(nth))
  journal.flush()
  for (const nth of [1, 2]) journal.append(charge(nth, nth))
  journal.settled(idOf(4))
  journal.append(charge(4, 3))
  journal.provisional(idOf(5), () => stands(5, 402))
  journal.flush()
  assert.equal(journal.unsettled, 2)
  const found = (await replayed(disk, { lastSeq: 3n })).map(({ id, seq, status }) => [
    id,
    seq,
    status,
  ])
  assert.deepEqual(found, [
    [idOf(3), 4, 200],
    [idOf(5), 5, 402],
  ])
})

test('a charge is posted once, also where the segment of the settled one is gone', async (t) => {
  const { disk, journal } = open(t)
  journal.provisional(idOf(3), () => stands(3))
  journal.flush()
  assert.deepEqual(await replayed(disk, { has: [idOf(3)], lastSeq: 3n }), [])
  journal.append(charge(3, 3))
  journal.flush()
  assert.deepEqual(await replayed(disk, { lastSeq: 3n }), [], 'it is in the journal')
})

test('a charge that settles in the turn in which it begins is written once', (t) => {
  const { disk, journal } = open(t)
  journal.provisional(idOf(1), () => assert.fail('it is not needed'))
  journal.append(charge(1, 1))
  journal.settled(idOf(1))
  journal.flush()
  const [left] = readJournals(disk)
  assert.deepEqual([left?.provisional.length, left?.records.length], [0, 1])
})

test('a charge outlives the segment that it was written in', async (t) => {
  const { disk, journal } = open(t)
  journal.provisional(idOf(99), () => stands(99))
  journal.flush()
  const SEQS = 30
  for (let seq = 1; seq <= SEQS; seq++) journal.append(charge(seq, seq))
  journal.flush()
  assert.ok(disk.list().length > 2)
  journal.posted(BigInt(SEQS))
  await journal.synced()
  assert.equal(disk.list().length, 1)
  const found = await replayed(disk, { lastSeq: BigInt(SEQS) })
  assert.deepEqual(
    found.map(({ id, seq }) => [id, seq]),
    [[idOf(99), SEQS + 1]],
  )
})

test('a segment goes only when what took the place of its charges survives a power cut', async (t) => {
  const { disk: folder } = open(t)
  const acts: string[] = []
  const disk: Disk = {
    ...folder,
    create(name, head, size) {
      const file = folder.create(name, head, size)
      return { ...file, sync: () => file.sync().then(() => void acts.push(`sync ${name}`)) }
    },
    remove(name) {
      acts.push(`remove ${name}`)
      folder.remove(name)
    },
  }
  const failed = (error: unknown) => assert.fail(String(error))
  const options = { disk, session: SESSION, clock: systemClock, failed }
  await using journal = new Journal({ ...options, segmentBytes: SEGMENT_BYTES })
  journal.provisional(idOf(1), () => stands(1))
  journal.flush()
  let seq = 0
  while (disk.list().length < 3) journal.append(charge(++seq + 1, seq))
  await journal.synced()
  acts.length = 0
  journal.settled(idOf(1))
  journal.append(charge(1, ++seq))
  journal.posted(BigInt(seq - 2))
  await journal.synced()
  assert.deepEqual(acts, ['sync 00000003.journal', 'remove 00000002.journal'])
})

test('a flipped byte takes its own provisional charge, and counts no record as lost', () => {
  const records = [charge(1, 1), { ...stands(7), seq: 0n, kind: 'provisional' as const }]
  const ends = records.map((one) => encodeRecord(one))
  const whole = Buffer.concat([encodeHeader(SESSION), ...ends, Buffer.alloc(600)])
  const from = SEGMENT_HEADER_BYTES + (ends[0]?.length ?? 0)
  let told = 0
  for (let at = from; at < whole.length - 600; at++) {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] ?? 0) ^ 255
    const read = decodeSegment(bytes)
    assert.equal(read?.records.length, 1, `byte ${at}`)
    assert.deepEqual([read.provisional.length, read.isDamaged], [0, true], `byte ${at}`)
    if (read.damagedTail.length > 0) told++
  }
  // Of its kind and number alone nobody can tell that it was no record of its own.
  assert.equal(told, 9)
})
