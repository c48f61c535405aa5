// Ends of writers, with a server that does not hear each of them.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import type { FatalError } from '#wire/messages.ts'
import type { Queryable, State } from '#state/connect.ts'
import { createWriters } from './writers.ts'

const FULL = { code: '53100', message: 'full' } as FatalError

test('a writer whose end was lost is ended again a second later', async () => {
  let nowMs = 0
  let isWriting = true
  let ends = 0
  const query = async (text: string) => {
    if (!text.includes('pg_terminate_backend'))
      return { rows: isWriting ? [{ pid: 7, is_old: true }] : [], rowCount: 1 }
    if (++ends === 1) throw new Error('the connection was lost')
    isWriting = false
    return { rows: [], rowCount: 1 }
  }
  const state = {
    query: query as Queryable['query'],
    [Symbol.asyncDispose]: async () => undefined,
  } as Partial<State> as State
  await using writers = createWriters({
    connect: () => state,
    cut: () => undefined,
    hold: () => ({ [Symbol.dispose]: () => undefined }),
    nowMs: () => nowMs,
  })
  assert.equal(await writers.end(FULL), 1)
  await pause(100)
  assert.equal(ends, 1)
  nowMs = 500
  assert.equal(await writers.end(FULL), 1)
  assert.equal(ends, 1, 'the first end still has its second')
  nowMs = 1100
  assert.equal(await writers.end(FULL), 1)
  assert.equal(ends, 2)
  assert.equal(await writers.end(FULL), 0)
})

test('a warm connection is used again before it is closed for want of use', async () => {
  let nowMs = 0
  let asks = 0
  const query = async () => {
    asks++
    return { rows: [], rowCount: 0 }
  }
  const state = { query: query as Queryable['query'] } as Partial<State> as State
  const writers = createWriters({
    connect: () => state,
    cut: () => undefined,
    hold: () => ({ [Symbol.dispose]: () => undefined }),
    nowMs: () => nowMs,
  })
  for (; nowMs < 90_000; nowMs += 100) writers.warm()
  assert.equal(asks, 3)
})
