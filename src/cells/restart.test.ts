import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { checkBackoff, type Life, nextStart } from './restart.ts'

const policies = fc.record({
  delaysMs: fc.array(fc.nat(60_000), { minLength: 1, maxLength: 8 }),
  steadyMs: fc.integer({ min: 1, max: 100_000 }),
})
const histories = fc.array(fc.nat(200_000), { minLength: 1, maxLength: 30 }).map((lengths) => {
  let now = 0
  return lengths.map((length): Life => ({ startedMs: now, endedMs: (now += length) }))
})

test('nextStart() waits by the number of short lives since the last steady one', () => {
  fc.assert(
    fc.property(histories, policies, (lives, policy) => {
      // The rule told the other way round: walk forward and count.
      let short = 0
      for (const { startedMs, endedMs } of lives)
        short = endedMs - startedMs >= policy.steadyMs ? 0 : short + 1
      const index = Math.min(Math.max(short, 1), policy.delaysMs.length) - 1
      assert.equal(nextStart(lives, policy), policy.delaysMs[index])
    }),
  )
})

test('nextStart() needs no more history than there are delays', () => {
  fc.assert(
    fc.property(histories, policies, (lives, policy) => {
      const recent = lives.slice(-policy.delaysMs.length)
      assert.equal(nextStart(recent, policy), nextStart(lives, policy))
    }),
  )
})

test('checkBackoff() refuses policies that say nothing', () => {
  assert.throws(() => checkBackoff({ delaysMs: [], steadyMs: 1 }), RangeError)
  assert.throws(() => checkBackoff({ delaysMs: [-1], steadyMs: 1 }), RangeError)
  assert.throws(() => checkBackoff({ delaysMs: [Number.NaN], steadyMs: 1 }), RangeError)
  assert.throws(() => checkBackoff({ delaysMs: [1], steadyMs: 0 }), RangeError)
})
