import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConnectionTurns } from './turns.ts'

const clockAt = (nowMs: { value: number }) => ({ monotonicMs: () => nowMs.value })

test('one account has 200 connections at most, and the even part beside others', () => {
  const turns = createConnectionTurns(clockAt({ value: 0 }), 400)
  const takeAll = (account: string): number => {
    let taken = 0
    while (turns.take(account) !== undefined) taken++
    return taken
  }
  const first = turns.take('acct_a')
  assert.equal(1 + takeAll('acct_a'), 200)
  // Three that are there have 133 each; what is open stays open.
  assert.equal(takeAll('acct_b'), 200)
  assert.equal(takeAll('acct_c'), 133)
  first?.end()
  first?.end()
  assert.equal(takeAll('acct_a'), 0)
})

test('openings of an account follow one another, 200 in a second after a hundred', () => {
  const now = { value: 1000 }
  const turns = createConnectionTurns(clockAt(now))
  const open = (account: string): number | undefined => {
    const turn = turns.take(account)
    turn?.end()
    return turn?.waitMs
  }
  const waits = Array.from({ length: 400 }, () => open('acct_a'))
  assert.deepEqual(
    [waits[0], waits[99], waits[100], waits[101], waits[299], waits[300]],
    [0, 0, 5, 10, 1000, undefined],
  )
  assert.equal(open('acct_b'), 0)
  now.value += 1000
  assert.equal(open('acct_a'), 5)
  now.value += 60_000
  assert.equal(open('acct_a'), 0)
})
