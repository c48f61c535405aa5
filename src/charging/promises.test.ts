import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
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

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-promises-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const disk = createDisk(folder)
  const failed = (error: unknown) => assert.fail(String(error))
  return { disk, promises: new Promises({ disk, session: SESSION, clock: systemClock, failed }) }
}

/** What the next life posts of a session whose journal has `records`. */
async function replayed(
  disk: ReturnType<typeof createDisk>,
  records: readonly JournalRecord[],
  { posted = [], lastSeq = 0n }: { posted?: string[]; lastSeq?: bigint } = {},
) {
  const [life] = await withPromises([{ session: SESSION, records }], disk, {
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
  const lives = [{ session: SESSION, records: [] }]
  const posted = async () => new Set<string>()
  const other = { session: 'gw-1.8', lastSeq: 0n }
  assert.deepEqual(await withPromises(lives, disk, { open: other, posted }), lives)
  const known = async () => true
  assert.deepEqual(await dropPromises(disk, known), [])
  assert.deepEqual(disk.list(), [])
  assert.deepEqual(await replayed(disk, []), [])
  assert.deepEqual(await dropPromises(disk, known), [])
})

test('promises of a session that the ledger does not know are kept, out of the way', async (t) => {
  const { disk, promises } = open(t)
  await using _ = promises
  promises.make('rcpt_3', text(3), DEBITS)
  const before = disk.read('promises')
  assert.deepEqual(await dropPromises(disk, async (session) => session !== SESSION), [SESSION])
  assert.deepEqual(disk.list(), [`promises-${SESSION}`])
  assert.deepEqual(disk.read(`promises-${SESSION}`), before)
})
