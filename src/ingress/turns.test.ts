import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FUNCTION_CONCURRENCY,
  FUNCTION_CONCURRENCY_MAX,
  FUNCTION_WAITING_MAX,
} from '#contract/functions/function-limits.ts'
import { createTurns, ROUTED_REQUESTS_MAX } from './turns.ts'

const staying = new AbortController()
const ROUTE = {
  id: 'fn_a',
  account: 'acct_a',
  kind: 'function',
  concurrency: null,
  scale: null,
} as const

test('the greatest setting of requests at once is reached: no limit of the account is below it', async () => {
  const turns = createTurns()
  const route = { ...ROUTE, concurrency: FUNCTION_CONCURRENCY_MAX }
  const take = async () => await turns.take(route, staying)
  const ends = await Promise.all(Array.from({ length: FUNCTION_CONCURRENCY_MAX }, take))
  for (const end of ends) end()
})

test('so many requests run at once, further ones wait in their order, and too many are function_busy', async () => {
  const turns = createTurns()
  const running = await Promise.all(
    Array.from({ length: FUNCTION_CONCURRENCY }, () => turns.take(ROUTE, staying)),
  )
  const begun: number[] = []
  const leaving = new AbortController()
  const waiting = Array.from({ length: FUNCTION_WAITING_MAX }, async (_, nth) => {
    const end = await turns.take(ROUTE, leaving)
    begun.push(nth)
    return end
  })
  await assert.rejects(turns.take(ROUTE, staying), { code: 'function_busy', status: 503 })
  // Another function has turns of its own.
  ;(await turns.take({ ...ROUTE, id: 'fn_b' }, staying))()
  assert.deepEqual(begun, [])
  const [first, second] = running
  first?.()
  first?.()
  await waiting[0]
  assert.deepEqual(begun, [0])
  second?.()
  await waiting[1]
  assert.deepEqual(begun, [0, 1])
  leaving.abort()
  await Promise.allSettled(waiting)
})

test('a request that leaves while it waits has no turn', async () => {
  const turns = createTurns()
  const ends = await Promise.all(
    Array.from({ length: FUNCTION_CONCURRENCY }, () => turns.take(ROUTE, staying)),
  )
  const leaving = new AbortController()
  const left = turns.take(ROUTE, leaving)
  const next = turns.take(ROUTE, staying)
  leaving.abort(new Error('gone'))
  await assert.rejects(left, /gone/)
  ends[0]?.()
  ;(await next)()
})

test('a request that waits too long is told that the function is busy, and has no turn', async () => {
  const turns = createTurns(20)
  const ends = await Promise.all(
    Array.from({ length: FUNCTION_CONCURRENCY }, () => turns.take(ROUTE, staying)),
  )
  await assert.rejects(turns.take(ROUTE, staying), { code: 'function_busy', status: 503 })
  ends[0]?.()
  ;(await turns.take(ROUTE, staying))()
})

test('a route may have fewer turns than its kind', async () => {
  const turns = createTurns()
  const one = { ...ROUTE, concurrency: 1 }
  const end = await turns.take(one, staying)
  let hasBegun = false
  const second = turns.take(one, staying).then((endSecond) => {
    hasBegun = true
    endSecond()
  })
  await Promise.resolve()
  assert.equal(hasBegun, false)
  end()
  await second
})

test('where a route gets fewer turns, those that wait begin once no more than these run', async () => {
  const turns = createTurns()
  const [first, second] = await Promise.all(
    Array.from({ length: 2 }, () => turns.take({ ...ROUTE, concurrency: 2 }, staying)),
  )
  let hasBegun = false
  const waiting = turns.take({ ...ROUTE, concurrency: 1 }, staying).then((end) => {
    hasBegun = true
    end()
  })
  first?.()
  await new Promise(setImmediate)
  assert.equal(hasBegun, false)
  second?.()
  await waiting
})

test('one account leaves room for others, however many resources it has', async () => {
  const turns = createTurns()
  const take = (nth: number, account = 'acct_a') =>
    turns.take({ ...ROUTE, id: `fn_${nth}`, account }, staying)
  const ends = await Promise.all(
    Array.from({ length: ROUTED_REQUESTS_MAX }, (_, nth) => take(Math.floor(nth / 20))),
  )
  await assert.rejects(take(999), { code: 'function_busy', message: /its account has 500/ })
  ;(await take(999, 'acct_b'))()
  ends[0]?.()
  ;(await take(999))()
  await assert.rejects(Promise.all([take(999), take(998)]), { code: 'function_busy' })
})
