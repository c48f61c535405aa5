import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queryable, State } from './connect.ts'
import { timeStatements } from './timed-state.ts'

/** A state whose statements end when the test says so. */
function heldState() {
  const ends: { readonly end: () => void; readonly fail: (error: Error) => void }[] = []
  const held: Queryable = {
    query: () =>
      new Promise((resolve, reject) => {
        ends.push({ end: () => resolve({ rows: [], rowCount: 0 }), fail: reject })
      }),
  }
  const state: State = {
    ...held,
    transaction: (work) => work(held),
    session: (work) => work(held),
    listen: () => Promise.reject(new TypeError('not here')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return { state, ends }
}

test('timed statements count while they run, each for itself, also those of a transaction and a failure', async () => {
  let nowMs = 1000
  const { state, ends } = heldState()
  const timed = timeStatements(state, { monotonicMs: () => nowMs })
  nowMs += 500
  assert.equal(timed.statementMs, 0)
  const first = timed.state.query('select 1')
  nowMs += 10
  assert.equal(timed.statementMs, 10)
  const second = timed.state.transaction((transaction) => transaction.query('select 2'))
  const third = timed.state.session((session) => session.query('select 3'))
  nowMs += 10
  assert.equal(timed.statementMs, 40)
  ends[0]?.end()
  ends[1]?.fail(new Error('refused'))
  await first
  await assert.rejects(second, /refused/)
  nowMs += 5
  assert.equal(timed.statementMs, 45)
  ends[2]?.end()
  await third
  nowMs += 1000
  assert.equal(timed.statementMs, 45)
})
