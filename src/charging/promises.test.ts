import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { parseCharge } from '#contract/charge.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { chargeText } from './charge-text.ts'
import { createDisk } from './disk.ts'
import type { JournalRecord } from './journal-record.ts'
import { dropPromises, Promises, withPromises } from './promises.ts'

const SESSION = 'gw-1.7'
const DEBITS = [{ wallet: 'money:a', amount: 12n }]
const text = (nth: number) => chargeText(chargeOf(nth))
const record = (nth: number): JournalRecord => ({
  seq: BigInt(nth),
  kind: 'charge',
  bytes: text(nth),
  debits: DEBITS,
})

const undamaged = (file: string) => assert.fail(`${file} is damaged`)

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-promises-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const disk = createDisk(folder)
  const failed = (error: unknown) => assert.fail(String(error))
  const journaled = () => Promise.resolve()
  const options = { disk, session: SESSION, clock: systemClock, failed, journaled }
  return { disk, promises: new Promises(options) }
}

/** What the next life posts of a session whose journal has `records`. */
async function replayed(
  disk: ReturnType<typeof createDisk>,
  records: readonly JournalRecord[],
  { posted = [], lastSeq = 0n }: { posted?: string[]; lastSeq?: bigint } = {},
) {
  const [life] = await withPromises([{ session: SESSION, records, damagedTail: [] }], disk, {
    open: { session: SESSION, lastSeq },
    posted: async () => new Set(posted),
  })
  return (life?.records ?? []).slice(records.length).map(({ seq, bytes, debits }) => {
    const charge = parseCharge(bytes)
    assert.equal(charge.seq, seq.toString())
    return { id: charge.id, seq, debits }
  })
}

test('a promise that was not kept is posted after the last record of its session', async (t) => {
  const { disk, promises } = open(t)
  await using _ = promises
  for (const nth of [3, 4, 5]) promises.make(`rcpt_${nth}`, text(nth), DEBITS)
  promises.keep('rcpt_4')
  assert.equal(promises.size, 2)
  await turn()
  assert.deepEqual(await replayed(disk, [record(1), record(2)]), [
    { id: 'rcpt_3', seq: 3n, debits: DEBITS },
    { id: 'rcpt_5', seq: 4n, debits: DEBITS },
  ])
  assert.deepEqual(
    (await replayed(disk, [], { lastSeq: 9n })).map(({ seq }) => seq),
    [10n, 11n],
    'when its journal was posted to the end',
  )
})

test('a promise is not posted beside the charge that kept it', async (t) => {
  const { disk, promises } = open(t)
  await using _ = promises
  promises.make('rcpt_3', text(3), DEBITS)
  // Killed between the journal and the slot.
  assert.deepEqual(await replayed(disk, [record(3)]), [])
  assert.deepEqual(await replayed(disk, [], { posted: ['rcpt_3'] }), [])
})

test('slots are used again, and any number of them is read back', async (t) => {
  const { disk, promises } = open(t)
  await using _ = promises
  for (let nth = 0; nth < 200; nth++) {
    promises.make(`rcpt_${nth}`, text(nth), DEBITS)
    if (nth % 2 === 0) promises.keep(`rcpt_${nth}`)
    await turn()
  }
  promises.keep('rcpt_0')
  const found = (await replayed(disk, [])).map(({ id }) => id)
  const odd = Array.from({ length: 100 }, (_value, index) => `rcpt_${2 * index + 1}`)
  assert.deepEqual(found.toSorted(), odd.toSorted())
})

test('promises of another session are not posted, and all are dropped together', async (t) => {
  const { disk, promises } = open(t)
  await using _ = promises
  promises.make('rcpt_3', text(3), DEBITS)
  const lives = [{ session: SESSION, records: [], damagedTail: [] }]
  const posted = async () => new Set<string>()
  const other = { session: 'gw-1.8', lastSeq: 0n }
  assert.deepEqual(await withPromises(lives, disk, { open: other, posted }), lives)
  const known = async () => true
  assert.deepEqual(await dropPromises(disk, known, undamaged), [])
  assert.deepEqual(disk.list(), [])
  assert.deepEqual(await replayed(disk, []), [])
  assert.deepEqual(await dropPromises(disk, known, undamaged), [])
})

test('promises of a session that the ledger does not know are kept, out of the way', async (t) => {
  const { disk, promises } = open(t)
  await using _ = promises
  promises.make('rcpt_3', text(3), DEBITS)
  const before = disk.read('promises')
  const unknown = async (session: string) => session !== SESSION
  assert.deepEqual(await dropPromises(disk, unknown, undamaged), [SESSION])
  assert.deepEqual(disk.list(), [`promises-${SESSION}`])
  assert.deepEqual(disk.read(`promises-${SESSION}`), before)
})

const SLOT = 4096
/** Four promises of which the second was kept, and a slot that was never used. */
async function spoilable(t: TestContext) {
  const { disk, promises } = open(t)
  for (const nth of [3, 4, 5, 6]) promises.make(`rcpt_${nth}`, text(nth), DEBITS)
  promises.keep('rcpt_4')
  await turn()
  await promises[Symbol.asyncDispose]()
  const whole = disk.read('promises').subarray(0, 5 * SLOT)
  const ids = await Promise.all(
    [0, 2, 3].map(async (slot) => {
      const only = whole.subarray(slot * SLOT, (slot + 1) * SLOT)
      const [id = ''] = await idsOf(only)
      return [slot, id] as const
    }),
  )
  return { whole, idOf: new Map(ids) }
}

/** What the next life posts of a file of promises. */
const idsOf = async (file: Buffer) =>
  (await replayed({ ...FILE_ONLY, read: () => file }, [])).map(({ id }) => id)
const damagedIn = async (file: Buffer) => {
  let damaged = 0
  const disk = { ...FILE_ONLY, read: () => file, remove: () => undefined }
  const keepAside = async (_: string, count: number) => void (damaged = count)
  await dropPromises(disk, async () => true, keepAside)
  return damaged
}
const FILE_ONLY = {
  list: () => ['promises'],
  read: () => Buffer.alloc(0),
  create: () => assert.fail('nothing is created'),
  remove: () => assert.fail('nothing is removed'),
  rename: () => assert.fail('nothing is renamed'),
}

test('a flipped byte takes its own promise, which is reported, and brings back none', async (t) => {
  const { whole, idOf } = await spoilable(t)
  assert.equal(idOf.size, 3)
  const all = [...idOf.values()]
  let hits = 0
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] ?? 0) ^ 255
    const slot = Math.floor(at / SLOT)
    const found = await idsOf(bytes)
    const lost = all.filter((id) => !found.includes(id))
    assert.deepEqual(
      found,
      all.filter((id) => !lost.includes(id)),
      `byte ${at}`,
    )
    assert.ok(lost.length === 0 || (lost.length === 1 && lost[0] === idOf.get(slot)), `byte ${at}`)
    assert.equal(await damagedIn(bytes), lost.length, `byte ${at}`)
    hits += lost.length
  }
  assert.ok(hits > 3 * text(3).length, `only ${hits} bytes took a promise`)
})

test('a promise is erased when its charge survives a power cut, and not before', async (t) => {
  const { disk } = open(t)
  const synced = Promise.withResolvers<void>()
  const failed = (error: unknown) => assert.fail(String(error))
  const options = { disk, session: SESSION, clock: systemClock, failed }
  await using promises = new Promises({ ...options, journaled: () => synced.promise })
  promises.make('rcpt_3', text(3), DEBITS)
  promises.keep('rcpt_3')
  await turn()
  assert.deepEqual([promises.size, (await replayed(disk, [])).length], [0, 1])
  assert.deepEqual(await replayed(disk, [record(3)]), [], 'it is known by its id')
  synced.resolve()
  await turn()
  assert.deepEqual(await replayed(disk, []), [])
})
