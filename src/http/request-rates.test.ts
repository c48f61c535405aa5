import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { createRequestRates } from './request-rates.ts'
import { startTestHttp } from './test-server.fixture.ts'

const WHO = { account: 'acct_a' }
const OWN = { ...WHO, rate: { key: 'tok_a', perMinute: 6 } }

function ratesAt(perMinute: number) {
  let nowMs = 1000
  const rates = createRequestRates(perMinute, { monotonicMs: () => nowMs })
  /** The wait that a refusal tells in milliseconds; 0 when the request was taken. */
  function waitOf(caller: Parameters<typeof rates.take>[0]): number {
    try {
      rates.take(caller)
      return 0
    } catch (error) {
      assert.ok(error instanceof ErgonError)
      assert.equal(error.code, 'rate_limit_exceeded')
      assert.equal(error.retryAfterS, Math.ceil(Number(error.headers['retry-after-ms']) / 1000))
      return Number(error.headers['retry-after-ms'])
    }
  }
  return { rates, waitOf, pass: (ms: number) => (nowMs += ms) }
}

test('take() takes a minute of requests at once, then one in each part of a minute', () => {
  const { waitOf, pass } = ratesAt(60)
  for (let nth = 0; nth < 60; nth++) assert.equal(waitOf(WHO), 0)
  assert.equal(waitOf(WHO), 1000)
  assert.equal(waitOf({ account: 'acct_b' }), 0, 'another account has its own')
  pass(1000)
  assert.equal(waitOf(WHO), 0)
  pass(2000)
  assert.deepEqual([waitOf(WHO), waitOf(WHO)], [0, 0])
  assert.notEqual(waitOf(WHO), 0)
})

test('take() takes exactly as many as the limit at once, whatever the limit and the clock', () => {
  for (let limit = 1; limit <= 2000; limit++) {
    const { waitOf, pass } = ratesAt(limit)
    pass(limit * 0.1)
    let taken = 0
    while (taken <= limit && waitOf(WHO) === 0) taken++
    assert.equal(taken, limit)
  }
})

test('take() sends callers that it refuses back one after the other, within a minute', () => {
  const { waitOf, pass } = ratesAt(60)
  for (let nth = 0; nth < 60; nth++) waitOf(WHO)
  const waits = Array.from({ length: 100 }, () => waitOf(WHO))
  assert.deepEqual(waits.slice(0, 3), [1000, 2000, 3000])
  assert.equal(waits.at(-1), 59_000)
  // A request that comes after its wait is taken.
  for (let nth = 1; nth <= 59; nth++) {
    pass(1000)
    assert.equal(waitOf(WHO), 0)
  }
})

test('take() never takes more than a full bucket and what came back meanwhile', () => {
  const { waitOf, pass } = ratesAt(600)
  let taken = 0
  let passedMs = 0
  for (let nth = 0; nth < 20_000; nth++) {
    const ms = (nth * 7919) % 40
    pass(ms)
    passedMs += ms
    if (waitOf(WHO) === 0) taken++
    assert.ok(taken <= 600 + passedMs / 100 + 1e-6)
  }
  assert.ok(taken > passedMs / 100, 'and hardly less where more is asked for')
})

test('take() says what is left of each limit, and counts nothing of what it refuses', () => {
  const { rates, waitOf, pass } = ratesAt(600)
  assert.deepEqual(rates.take(OWN), [
    'RateLimit-Policy',
    '"account";q=600;w=60, "token";q=6;w=60',
    'RateLimit',
    '"account";r=599;t=1, "token";r=5;t=10',
  ])
  for (let nth = 0; nth < 5; nth++) assert.equal(waitOf(OWN), 0)
  for (let nth = 0; nth < 9; nth++) assert.notEqual(waitOf(OWN), 0)
  pass(100)
  assert.equal(rates.take(WHO)[3], '"account";r=594;t=1')
})

test('take() says whole seconds as they are, whatever the fractions of the clock', () => {
  const { rates, pass } = ratesAt(2)
  // A time whose sum with a minute is rounded up.
  pass(1_046_605.3255372316 - 1000)
  assert.equal(rates.take(WHO)[3], '"account";r=1;t=30')
})

test('take() keeps no bucket that is full, and none is forgotten earlier', () => {
  const { waitOf, pass } = ratesAt(60)
  for (let nth = 0; nth < 60; nth++) waitOf(WHO)
  // The maps change places in between, more than once.
  for (let passedMs = 0; passedMs < 180_000; passedMs += 500) {
    assert.equal(waitOf(WHO) === 0, passedMs % 1000 === 0 && passedMs > 0)
    pass(500)
  }
})

test('a request beyond the rate of its account is 429, with the wait that SDKs obey', async () => {
  await using http = await startTestHttp(
    { '/ping': () => ({ kind: 'known', status: 200, body: () => 'pong' }) },
    { accountRate: 2 },
  )
  const ask = () => fetch(`http://127.0.0.1:${http.port}/ping`)
  const first = await ask()
  assert.equal(first.headers.get('ratelimit-policy'), '"account";q=2;w=60')
  assert.equal(first.headers.get('ratelimit'), '"account";r=1;t=30')
  assert.equal((await ask()).status, 200)
  const third = await ask()
  const { error } = (await third.json()) as { error: { code: string; type: string } }
  assert.deepEqual(
    [third.status, error.code, error.type],
    [429, 'rate_limit_exceeded', 'rate_limit_error'],
  )
  assert.equal(third.headers.get('ratelimit'), '"account";r=0;t=60')
  assert.equal(third.headers.get('retry-after'), '30')
  assert.match(third.headers.get('retry-after-ms') ?? '', /^(29|30)\d{3}$/)
  assert.equal(third.headers.get('x-should-retry'), null)
})
