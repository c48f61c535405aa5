// The four sentences of a receipt, sound and spoilt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Checked } from '#console/proof/check-receipt.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { checkLines } from './checks.ts'

const charge = chargeOf(1)
const row = {
  id: charge.id,
  at: charge.to,
  kind: 'charge',
  amount_pusd: `-${charge.charge_pusd}`,
  request_id: charge.request,
  service: 'inference',
  operation: charge.operation,
  model: null,
  energy_nj: charge.energy_nj,
  resource: null,
  method: 'model',
  band_pct: '30',
  leaf_hash: 'ab',
  reference: null,
  token: null,
} as const
const sound: Checked = {
  text: '',
  verdict: {
    isSound: true,
    failed: undefined,
    pinned: [],
    refusedKey: undefined,
    uncompared: undefined,
    charge,
    accountSeq: '1284',
    leafHash: 'ab',
    entry: 4182,
    head: { origin: 'ergon-1/2026', size: 4190, root: '' },
    seenSize: undefined,
    steps: 7,
    tookMs: 4.2,
  },
  signers: { count: 5, threshold: 3, hosts: 1 },
  before: { accountSeq: '1283' },
  id: charge.id,
  rows: [row],
}
const told = (checked: Checked) =>
  checkLines(checked).map(({ name, state, rest }) =>
    `${state} ${name}${rest}`.replaceAll('\u00a0', ' '),
  )

test('a sound receipt has four checks that hold', () => {
  assert.deepEqual(told(sound), [
    'holds Signed by three of five signers, on one host',
    'holds In the log: entry 4,182 leads to the signed head 4,190 in 7 steps',
    'holds Adds up: every figure recomputed here, in 4 ms',
    'holds Nothing hidden: your number 1,284 follows 1,283',
  ])
})

test('a missing number, a changed key and a wrong sum each fail their line', () => {
  assert.equal(
    told({ ...sound, before: { accountSeq: '1282' } })[3],
    'fails Nothing hidden: your number 1,283 is missing before 1,284',
  )
  const refused = {
    isSound: false,
    failed: { check: 'key', why: 'No pinned key for the log: ergon-1/2026' },
    refusedKey: 'another key signs it: 00ff',
  }
  assert.deepEqual(told({ ...sound, verdict: { ...sound.verdict, ...refused } }), [
    'fails Signed: another key signs it: 00ff',
    'unmade In the log: not checked',
    'unmade Adds up: not checked',
    'unmade Nothing hidden: not checked',
  ])
  const failed = { check: 'charge', why: 'Could not read the charge: energy_nj' }
  const spoilt = { ...sound, verdict: { ...sound.verdict, isSound: false, failed } }
  assert.deepEqual(told(spoilt).slice(1), [
    'holds In the log: entry 4,182 leads to the signed head 4,190 in 7 steps',
    'fails Adds up: could not read the charge: energy_nj',
    'unmade Nothing hidden: not checked',
  ])
})

test('another row of the ledger, and another history, each fail the line of the log', () => {
  const line = (checked: Checked) => told(checked)[1]
  const rowsOf = [
    [{ leaf_hash: 'ff00ff00ff' }, 'the leaf ff00ff00, and this receipt the leaf ab'],
    [{ leaf_hash: null }, 'the leaf none, and this receipt the leaf ab'],
    [{ id: 'rcpt_2' }, 'the charge rcpt_2, and this receipt the charge rcpt_1'],
    [
      { energy_nj: '1500000001' },
      'the nanojoules 1500000001, and this receipt the nanojoules 1500000000',
    ],
    [
      { amount_pusd: '-104167' },
      'the pico-dollars 104167, and this receipt the pico-dollars 104166',
    ],
  ] as const
  for (const [change, words] of rowsOf)
    assert.equal(
      line({ ...sound, rows: [{ ...row, ...change }] }),
      `fails In the log: the ledger has ${words}`,
    )
  assert.match(
    line({ ...sound, verdict: { ...sound.verdict, seenSize: 4100 } }) ?? '',
    /in 7 steps, of one history with 4,100 seen before$/,
  )
  const failed = { check: 'history', why: 'The log shows two histories' }
  assert.deepEqual(told({ ...sound, verdict: { ...sound.verdict, isSound: false, failed } }), [
    'holds Signed by three of five signers, on one host',
    'fails In the log: the log shows two histories',
    'unmade Adds up: not checked',
    'unmade Nothing hidden: not checked',
  ])
})

test('a paid charge without a row of the ledger, or with two, fails the line of the log', () => {
  const line = (rows: Checked['rows']) => told({ ...sound, rows })[1]
  assert.equal(line([]), 'fails In the log: the ledger has no row of rcpt_1, which has a price')
  assert.equal(line([row, row]), 'fails In the log: the ledger has 2 charges of rcpt_1')
})

test('a line that could not be compared has no tick, and the reason in words', () => {
  const unpaid = { ...charge, free: true, charge_pusd: '0' }
  const free = { ...sound, verdict: { ...sound.verdict, charge: unpaid }, rows: [] }
  assert.deepEqual(told(free), [
    'holds Signed by three of five signers, on one host',
    'unmade In the log: entry 4,182 leads to the signed head 4,190 in 7 steps. Not compared with the ledger, because your ledger has no row of this id',
    'holds Adds up: every figure recomputed here, in 4 ms',
    'holds Nothing hidden: your number 1,284 follows 1,283',
  ])
  const uncompared = 'the log answered 503'
  const verdict = { ...sound.verdict, isSound: false, seenSize: 4100, uncompared }
  assert.equal(
    told({ ...sound, verdict })[1],
    'unmade In the log: entry 4,182 leads to the signed head 4,190 in 7 steps. Not compared with the 4,100 entries seen before, because the log could not be read: the log answered 503. Ask again',
  )
})

test('a key that could not be checked fails no line, and holds none', () => {
  const unread = {
    isSound: false,
    charge: undefined,
    accountSeq: undefined,
    uncompared: 'the log answered 503',
  }
  assert.deepEqual(
    told({ ...sound, before: undefined, verdict: { ...sound.verdict, ...unread } }),
    [
      'unmade Signed: not checked, because the log could not be read: the log answered 503. Ask again',
      'unmade In the log: not checked',
      'unmade Adds up: not checked',
      'unmade Nothing hidden: not checked',
    ],
  )
})

test('the receipt of another charge fails its line', () => {
  const failed = { check: 'asked', why: 'This is the receipt of rcpt_1, and rcpt_2 was asked for' }
  assert.deepEqual(
    told({ ...sound, rows: [], verdict: { ...sound.verdict, isSound: false, failed } }).slice(1),
    [
      'fails In the log: this is the receipt of rcpt_1, and rcpt_2 was asked for',
      'unmade Adds up: not checked',
      'unmade Nothing hidden: not checked',
    ],
  )
})
