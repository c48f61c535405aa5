import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
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

/** A pool of one connection, whose borrowers wait in turn, over a state. */
function poolOfOne(held: State): State {
  let last: Promise<unknown> = Promise.resolve()
  const lend = <T>(borrow: () => Promise<T>): Promise<T> => {
    const answer = last.then(borrow)
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    ...held,
    query: (text, values) => lend(() => held.query(text, values)),
    session: (work) => lend(() => held.session(work)),
    transaction: (work) =>
      lend(() =>
        held.session(async (session) => {
          const result = await work(session)
          await session.query('commit')
          return result
        }),
      ),
  }
}

test('timed statements do not count while they wait for a connection, and a commit is one of them', async () => {
  let nowMs = 0
  const { state, ends } = heldState()
  const timed = timeStatements(poolOfOne(state), { monotonicMs: () => nowMs })
  const end = async (nth: number) => {
    ends[nth]?.end()
    await setImmediate()
  }
  const all = [
    timed.state.query('select 1'),
    timed.state.query('select 2'),
    timed.state.transaction((transaction) => transaction.query('select 3')),
  ]
  await setImmediate()
  nowMs += 10
  await end(0)
  assert.equal(timed.statementMs, 10)
  nowMs += 10
  await end(1)
  assert.equal(timed.statementMs, 20)
  nowMs += 10
  await end(2)
  assert.equal(timed.statementMs, 30)
  nowMs += 10
  await end(3)
  await Promise.all(all)
  nowMs += 10
  assert.equal(timed.statementMs, 40)
})

test('timed transactions that begin again after a deadlock, or fail, leave no statement that runs', async () => {
  let nowMs = 0
  const { state } = heldState()
  const timed = timeStatements(
    {
      ...state,
      transaction: async (work) => {
        await work(state)
        await work(state)
        throw new Error('refused')
      },
    },
    { monotonicMs: () => nowMs },
  )
  await assert.rejects(
    timed.state.transaction(() => Promise.resolve()),
    /refused/,
  )
  nowMs += 10
  assert.equal(timed.statementMs, 0)
})
