// The four sentences of a receipt, sound and spoilt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Checked } from '#console/proof/check-receipt.ts'
import { checkLines } from './checks.ts'

const sound: Checked = {
  text: '',
  verdict: {
    isSound: true,
    failed: undefined,
    pinned: [],
    refusedKey: undefined,
    charge: undefined,
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
  ledgerHash: 'ab',
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
  assert.equal(
    line({ ...sound, ledgerHash: 'ff00ff00ff' }),
    'fails In the log: the ledger has the leaf ff00ff00, and this receipt the leaf ab',
  )
  assert.match(line({ ...sound, ledgerHash: undefined }) ?? '', /^holds In the log: entry 4,182/)
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
