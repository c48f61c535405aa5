import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeCredentials, writeOffSession } from '#ledger/reference/tick.ts'
import { addAccount, brokenInvariants, newBooks, type Books } from '#ledger/reference/books.ts'
import { grantFunds } from '#ledger/reference/funds.ts'
import { createReferenceLedger } from '#ledger/reference-ledger.fixture.ts'
import { testCharge } from '#ledger/test-state.fixture.ts'
import type { Ledger } from '#ledger/tick.ts'
import type { LeftBehind } from './journal.ts'
import type { JournalRecord } from './journal-record.ts'
import { replay } from './replay.ts'
import { debitsOf } from './session.ts'

const MONEY = 10n

/** A dead life of gw-1 with a lease of 100, of which the ledger has nothing yet. */
async function deadLife() {
  const now = { ms: Date.UTC(2026, 10, 21) }
  const books = newBooks({ id: 'price_1', pusdPerJ: 69_444n, freeTierNj: 0n })
  addAccount(books, 'acct_1', 'live', 0n)
  const lot = { account: 'acct_1', amount: 1000n, kind: 'funds', priority: 50 }
  grantFunds(books, { ...lot, transferKind: 'top_up' }, now.ms)
  const ledger = createReferenceLedger(books, () => now.ms)
  const { session } = await ledger.openSession('gw-1')
  const input = { session, number: 7n, epoch: 0n, meter: 'm1', records: [], debits: [] }
  await ledger.tick({ ...input, wants: [{ wallet: 'money:acct_1', amount: 100n }] })
  const left = (seqs: readonly bigint[], damagedTail: readonly bigint[] = []): LeftBehind => ({
    session,
    records: seqs.map((seq) => record(session, seq)),
    provisional: [],
    damagedTail,
    files: ['00000001.journal'],
    damaged: [],
  })
  return { books, ledger, session, left, now }
}

const record = (session: string, seq: bigint): JournalRecord => ({
  ...testCharge({
    session,
    seq,
    account: 'acct_1',
    ownNj: 5n,
    upstreamNj: 0n,
    money: MONEY,
    at: '2026-11-21T00:00:00.000Z',
  }),
  debits: [{ wallet: 'money:acct_1', amount: MONEY }],
})

test('a dead life is posted, then ended, and its leases return', async () => {
  const { books, ledger, session, left } = await deadLife()
  const done = await replay(ledger, 'gw-1', [left([1n, 2n, 3n])], 'm1')
  assert.deepEqual(done, { records: 3, lost: 0, done: ['00000001.journal'], unknown: [] })
  assert.equal(books.charges.length, 3)
  assert.equal(books.sessions.get(session)?.open, false)
  const { posted, reserved } = books.wallets.get('money:acct_1') ?? {}
  assert.deepEqual({ posted, reserved }, { posted: 1000n - 3n * MONEY, reserved: 0n })
  assert.deepEqual(brokenInvariants(books), [])
})

test('a dead life is not told of what gateways must forget', async () => {
  const { books, ledger, left } = await deadLife()
  changeCredentials(books, 'tok_1', 'acct_1')
  const told: unknown[] = []
  const heard: Ledger = {
    ...ledger,
    async tick(input) {
      const answer = await ledger.tick(input)
      told.push(answer.changes)
      return answer
    },
  }
  await replay(heard, 'gw-1', [left([1n, 2n])], 'm1')
  assert.deepEqual(told, [[]])
})

test('a replay that was interrupted goes on, and posts nothing twice', async () => {
  const { books, ledger, left } = await deadLife()
  const dying: Ledger = {
    ...ledger,
    async tick(input) {
      await ledger.tick(input)
      throw new TypeError('killed after the commit')
    },
  }
  await assert.rejects(replay(dying, 'gw-1', [left([1n, 2n])], 'm1'), TypeError)
  const again = await replay(ledger, 'gw-1', [left([1n, 2n])], 'm1')
  assert.equal(again.records, 0)
  assert.equal(books.charges.length, 2)
  assert.deepEqual(brokenInvariants(books), [])
})

test('a last tick of the dead life that ends meanwhile is no fault, and nothing is posted twice', async () => {
  const { books, ledger, session, left } = await deadLife()
  const records = left([1n, 2n, 3n]).records.slice(0, 2)
  const debits = debitsOf(records)
  let isLate = true
  const busy: Ledger = {
    ...ledger,
    async tick(input) {
      if (isLate) {
        isLate = false
        await ledger.tick({ ...input, session, number: 8n, records, debits })
      }
      return await ledger.tick(input)
    },
  }
  const done = await replay(busy, 'gw-1', [left([1n, 2n, 3n])], 'm1')
  assert.deepEqual([done.records, done.lost, books.charges.length], [1, 0, 3])
  assert.equal(books.sessions.get(session)?.open, false)
  assert.deepEqual(brokenInvariants(books), [])
})

const gapsOf = (books: Books) =>
  books.alarms
    .filter(({ kind }) => kind === 'journal_gap')
    .map(({ detail }) => [detail['first'], detail['last'], detail['lost']])
const postedOf = (books: Books) => books.charges.map(({ seq }) => seq)

test('records behind lost ones are posted, and each gap is alarmed by its numbers', async () => {
  const { books, ledger, session, left } = await deadLife()
  const done = await replay(ledger, 'gw-1', [left([2n, 3n, 6n, 8n], [9n, 10n])], 'm1')
  assert.deepEqual([done.records, done.lost], [4, 6])
  assert.deepEqual(postedOf(books), [2n, 3n, 6n, 8n])
  assert.deepEqual(gapsOf(books), [
    ['1', '1', '1'],
    ['4', '5', '2'],
    ['7', '7', '1'],
    ['9', '10', '2'],
  ])
  assert.equal(books.sessions.get(session)?.open, false)
  assert.equal(books.wallets.get('money:acct_1')?.posted, 1000n - 4n * MONEY)
  assert.deepEqual(brokenInvariants(books), [])
  await ledger.openSession('gw-1')
})

test('a replay that was interrupted behind a gap alarms it once', async () => {
  const { books, ledger, left } = await deadLife()
  const dying: Ledger = {
    ...ledger,
    async lose(session, first, last) {
      await ledger.lose(session, first, last)
      throw new TypeError('killed after the commit')
    },
  }
  for (let tries = 0; tries < 2; tries++)
    await assert.rejects(replay(dying, 'gw-1', [left([1n, 3n, 5n])], 'm1'), TypeError)
  await replay(ledger, 'gw-1', [left([1n, 3n, 5n])], 'm1')
  assert.deepEqual(postedOf(books), [1n, 3n, 5n])
  assert.deepEqual(gapsOf(books), [
    ['2', '2', '1'],
    ['4', '4', '1'],
  ])
})

test('a damaged record that the ledger has already is not lost', async () => {
  const { books, ledger, session, left } = await deadLife()
  const records = left([1n, 2n, 3n]).records
  const input = { session, number: 8n, epoch: 0n, meter: 'm1', wants: [] }
  await ledger.tick({ ...input, records, debits: debitsOf(records) })
  const done = await replay(ledger, 'gw-1', [left([1n], [2n, 3n])], 'm1')
  assert.deepEqual([done.records, done.lost, gapsOf(books)], [0, 0, []])
})

// The ledger has three records, and no record of the journal is whole.
const DAMAGED_ONLY: readonly [string, readonly bigint[], readonly bigint[]][] = [
  ['all of them posted', [2n, 3n], []],
  ['the last of them not posted', [3n, 4n], [4n]],
  ['none of them posted', [4n, 5n], [4n, 5n]],
  ['a number too high for the last of them', [2n, 2n ** 40n], []],
  ['a number too low for the last of them', [4n, 1n], [4n, 5n]],
  ['numbers that cannot be', [0n, 2n ** 40n], [4n, 5n]],
]
for (const [name, damagedTail, lost] of DAMAGED_ONLY)
  test(`records of a journal that has damaged ones alone are lost unless they are posted: ${name}`, async () => {
    const { books, ledger, session, left } = await deadLife()
    const records = left([1n, 2n, 3n]).records
    const input = { session, number: 8n, epoch: 0n, meter: 'm1', wants: [] }
    await ledger.tick({ ...input, records, debits: debitsOf(records) })
    const done = await replay(ledger, 'gw-1', [left([], damagedTail)], 'm1')
    const [first, last] = [lost.at(0), lost.at(-1)]
    const gaps = first === undefined ? [] : [[`${first}`, `${last}`, `${lost.length}`]]
    assert.deepEqual([done.lost, gapsOf(books)], [lost.length, gaps])
    assert.equal(books.sessions.get(session)?.open, false)
  })

test('files of a session that this ledger does not know are kept', async () => {
  const { ledger } = await deadLife()
  const files = ['00000002.journal']
  const none = { records: [], provisional: [], damagedTail: [], damaged: [] }
  const other = { session: 'gw-1.99', ...none, files }
  const done = await replay(ledger, 'gw-1', [other], 'm1')
  assert.deepEqual([done.done, done.unknown], [[], ['gw-1.99']])
})

test('a life that was written off stays so', async () => {
  const { books, ledger, session, left, now } = await deadLife()
  now.ms += 5000
  writeOffSession(books, session, 'the disk is gone', now.ms)
  const done = await replay(ledger, 'gw-1', [left([1n, 2n], [3n, 4n, 5n])], 'm1')
  assert.deepEqual([done.records, done.done, books.charges.length], [0, ['00000001.journal'], 0])
  assert.equal(done.lost, 5)
  const alarm = books.alarms.find(({ kind }) => kind === 'journal_gap')
  assert.deepEqual(alarm?.detail, { session, first: '1', last: '5', lost: '5' })
})

test('a life that ended in order has nothing to post and lost nothing', async () => {
  const { books, ledger, session, left } = await deadLife()
  await replay(ledger, 'gw-1', [left([1n, 2n])], 'm1')
  assert.equal(books.sessions.get(session)?.open, false)
  const again = await replay(ledger, 'gw-1', [left([1n, 2n])], 'm1')
  assert.deepEqual([again.records, again.lost, books.alarms], [0, 0, []])
})
