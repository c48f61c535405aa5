import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConnectionTurns } from './turns.ts'

const clockAt = (nowMs: { value: number }) => ({ monotonicMs: () => nowMs.value })

test('one account has 200 connections at most, and all have no more than there are', () => {
  const turns = createConnectionTurns(clockAt({ value: 0 }), 2000)
  const ends: (() => void)[] = []
  const takeAll = (account: string): number => {
    const before = ends.length
    for (let turn = turns.take(account); turn !== undefined; turn = turns.take(account))
      ends.push(turn.end)
    return ends.length - before
  }
  const greedy = Array.from({ length: 20 }, (_, nth) => takeAll(`acct_${nth}`))
  assert.deepEqual([greedy[0], greedy[1]], [200, 200])
  assert.ok(Math.min(...greedy) >= 20, greedy.join())
  // An account that has none gets one while any is free.
  for (let nth = 20; nth < 1000; nth++) takeAll(`acct_${nth}`)
  assert.equal(ends.length, 2000)
  assert.equal(turns.take('acct_1000'), undefined)
  ends[0]?.()
  ends[0]?.()
  const last = turns.take('acct_1000')
  assert.ok(last)
  assert.equal(turns.take('acct_1001'), undefined)
  last.end()
  for (const end of ends) end()
  assert.equal(takeAll('acct_new'), 200)
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
