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
    headSize: 4190,
    origin: 'ergon-1/2026',
    steps: 7,
    tookMs: 4.2,
  },
  signers: { count: 5, threshold: 3, hosts: 1 },
  before: { accountSeq: '1283' },
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
