import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { systemClock } from '#base/clock.ts'
import { InvariantError } from '#base/errors.ts'
import { createDisk, type Disk, type DiskFile } from './disk.ts'
import {
  encodeHeader,
  encodeRecord,
  SEGMENT_HEADER_BYTES,
  type JournalRecord,
} from './journal-record.ts'
import { decodeSegment } from './journal-segment.ts'
import { Journal, readJournals } from './journal.ts'

const records: fc.Arbitrary<JournalRecord[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('charge' as const, 'window' as const),
      bytes: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      debits: fc.array(
        fc.record({ wallet: fc.string(), amount: fc.bigInt({ min: 0n, max: 1n << 120n }) }),
        { maxLength: 3 },
      ),
    }),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map(({ kind, bytes, debits }, index) => ({
      seq: BigInt(index + 1),
      kind,
      bytes,
      debits: debits.map((debit) => ({ ...debit })),
    })),
  )

function segment(list: readonly JournalRecord[], tail = Buffer.alloc(64)): Buffer {
  return Buffer.concat([encodeHeader('gw-1.7'), ...list.map(encodeRecord), tail])
}

test('records read back as they were written', () => {
  fc.assert(
    fc.property(records, (list) => {
      const read = decodeSegment(segment(list))
      assert.deepEqual(read, {
        session: 'gw-1.7',
        records: list,
        provisional: [],
        damagedTail: [],
        isDamaged: false,
      })
    }),
  )
})

test('a segment that is cut anywhere reads as the records before the cut', () => {
  fc.assert(
    fc.property(records, fc.nat(), (list, at) => {
      const whole = segment(list, Buffer.alloc(0))
      const room = whole.length - SEGMENT_HEADER_BYTES + 1
      const cut = decodeSegment(whole.subarray(0, SEGMENT_HEADER_BYTES + (at % room)))
      const read = cut?.records ?? []
      assert.deepEqual(read, list.slice(0, read.length))
    }),
  )
})

test('garbage where a length should be reads as the end', () => {
  fc.assert(
    fc.property(records, fc.uint8Array({ minLength: 17, maxLength: 64 }), (list, garbage) =>
      assert.deepEqual(decodeSegment(segment(list, Buffer.from(garbage)))?.records, list),
    ),
  )
})

test('a segment of the format before, with one header, is read', () => {
  const list = [record(1n), record(2n)]
  const header = Buffer.from('ergonjl1 gw-1.7'.padEnd(64, '\0'), 'latin1')
  const bytes = Buffer.concat([header, ...list.map(encodeRecord), Buffer.alloc(64)])
  const read = {
    session: 'gw-1.7',
    records: list,
    provisional: [],
    damagedTail: [],
    isDamaged: false,
  }
  assert.deepEqual(decodeSegment(bytes), read)
})

test('a file without a whole header is none, and of nobody when it has records', () => {
  assert.equal(decodeSegment(Buffer.alloc(40)), undefined)
  assert.equal(decodeSegment(Buffer.alloc(4096)), undefined)
  const bytes = segment([record(1n)])
  bytes.fill(255, 0, SEGMENT_HEADER_BYTES)
  const { session, isDamaged } = decodeSegment(bytes) ?? {}
  assert.deepEqual({ session, isDamaged }, { session: '', isDamaged: true })
})

const SEGMENT = 4096
const record = (seq: bigint): JournalRecord => ({
  seq,
  kind: 'charge',
  bytes: Buffer.alloc(700, 'x'),
  debits: [{ wallet: 'money:acct_1', amount: seq }],
})

function folderDisk(t: TestContext): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-journal-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return createDisk(folder)
}

const open = (disk: Disk, failed: (error: unknown) => void = assert.ifError) =>
  new Journal({ disk, session: 'gw-1.1', clock: systemClock, failed, segmentBytes: SEGMENT })

test('segments turn, are read back in order, and go when they are posted', async (t) => {
  const disk = folderDisk(t)
  const journal = open(disk)
  for (let seq = 1n; seq <= 20n; seq++) journal.append(record(seq))
  journal.flush()
  assert.equal(disk.list().length, 4)
  const [left] = readJournals(disk)
  assert.deepEqual(
    left?.records.map(({ seq }) => seq),
    Array.from({ length: 20 }, (_, index) => BigInt(index + 1)),
  )
  assert.deepEqual([left?.damagedTail, left?.damaged], [[], []])
  journal.posted(4n)
  await journal.synced()
  assert.equal(disk.list().length, 4, 'the first segment has record 5 too')
  journal.posted(11n)
  await journal.synced()
  assert.equal(disk.list().length, 2)
  journal.posted(20n)
  await journal[Symbol.asyncDispose]()
  assert.equal(disk.list().length, 1)
})

test('the records of a turn are one write, and may leave after it', async (t) => {
  const acts: string[] = []
  const disk = wrap(folderDisk(t), {
    write(file, bytes, position) {
      acts.push('write')
      file.write(bytes, position)
    },
  })
  await using journal = open(disk)
  for (let seq = 1n; seq <= 3n; seq++) {
    journal.append(record(seq))
    journal.recorded(() => acts.push(`told ${seq}`))
  }
  assert.equal(acts.length, 0, 'nothing leaves before the turn ends')
  await turn()
  assert.deepEqual(acts, ['write', 'told 1', 'told 2', 'told 3'])
  journal.recorded(() => acts.push('told again'))
  assert.equal(acts.at(-1), 'told again', 'what is written need not wait')
})

test('where the write of a turn fails, nothing of it may leave', async (t) => {
  const disk = wrap(folderDisk(t), {
    write() {
      throw Object.assign(new TypeError('EIO'), { code: 'EIO' })
    },
  })
  const failures: unknown[] = []
  await using journal = open(disk, (error) => failures.push(error))
  const told: unknown[] = []
  for (let seq = 1n; seq <= 2n; seq++) {
    journal.append(record(seq))
    journal.recorded((failure) => told.push(failure?.error))
  }
  await turn()
  assert.equal(failures.length, 1)
  assert.deepEqual(told, [failures[0], failures[0]])
})

test('synced() waits for a sync that is under way', async (t) => {
  let synced = 0
  const gate = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const disk = wrap(folderDisk(t), {
    async sync(file) {
      started.resolve()
      await gate.promise
      await file.sync()
      synced++
    },
  })
  const journal = open(disk)
  journal.append(record(1n))
  await started.promise
  const waiting = journal.synced().then(() => assert.equal(synced, 1))
  gate.resolve()
  await waiting
  await journal[Symbol.asyncDispose]()
})

test('a posted segment is not closed while it is synced', async (t) => {
  const gate = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const disk = wrap(folderDisk(t), {
    async sync(file) {
      started.resolve()
      await gate.promise
      await file.sync()
    },
  })
  const journal = open(disk)
  for (let seq = 1n; seq <= 20n; seq++) journal.append(record(seq))
  await started.promise
  journal.posted(20n)
  gate.resolve()
  await journal.synced()
  await journal[Symbol.asyncDispose]()
  assert.equal(disk.list().length, 1)
})

for (const act of ['write', 'sync', 'create'] as const)
  test(`an error of ${act} is told once and nothing is written afterwards`, async (t) => {
    let broken = false
    let written = 0
    const fail = () => {
      if (broken) throw Object.assign(new TypeError('EIO'), { code: 'EIO' })
    }
    const disk = wrap(folderDisk(t), {
      write(file, bytes, position) {
        if (act === 'write') fail()
        written++
        file.write(bytes, position)
      },
      async sync(file) {
        if (act === 'sync') fail()
        await file.sync()
      },
      create: () => (act === 'create' ? fail() : undefined),
    })
    const told: unknown[] = []
    const journal = open(disk, (error) => told.push(error))
    journal.append(record(1n))
    await journal.synced()
    broken = true
    const appendAll = () => {
      for (let seq = 2n; seq < 12n; seq++) journal.append(record(seq))
    }
    if (act === 'sync') {
      appendAll()
      await assert.rejects(journal.synced(), { code: 'EIO' })
    } else assert.throws(appendAll, { code: 'EIO' })
    broken = false
    const before = written
    assert.throws(() => journal.append(record(12n)), InvariantError)
    assert.equal(written, before)
    assert.deepEqual(
      told.map((error) => (error as { code: string }).code),
      ['EIO'],
    )
    await journal[Symbol.asyncDispose]()
  })

test('records of all segments of a session are read, also behind a gap between two of them', (t) => {
  const disk = folderDisk(t)
  const write = (name: string, list: JournalRecord[]) =>
    disk.create(name, segment(list), SEGMENT).close()
  write('00000001.journal', [record(1n), record(2n)])
  write('00000002.journal', [record(4n), record(5n)])
  const [left] = readJournals(disk)
  assert.deepEqual(
    left?.records.map(({ seq }) => seq),
    [1n, 2n, 4n, 5n],
  )
  assert.deepEqual([left?.damagedTail, left?.damaged], [[], []])
})

type Overrides = {
  write?(file: DiskFile, bytes: Uint8Array, position: number): void
  sync?(file: DiskFile): Promise<void>
  create?(): void
}

/** A disk whose files do otherwise. */
function wrap(disk: Disk, { write, sync, create }: Overrides): Disk {
  return {
    ...disk,
    create(name, head, size) {
      create?.()
      const file = disk.create(name, head, size)
      return {
        ...file,
        write: (bytes, position) =>
          write ? write(file, bytes, position) : file.write(bytes, position),
        sync: () => (sync ? sync(file) : file.sync()),
      }
    },
  }
}
