// Idempotency-Key on a running product: what is asked again is answered again and not billed again.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Script, ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargeOf, joulesOf } from '../books.ts'
import { energyHeaderFaults } from '../../acceptance/energy-headers.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { ANSWER, addUpstream, honest } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

let ergon: Ergon
let upstream: ScriptedUpstream
before(async () => {
  ergon = sharedErgon()
  upstream = await addUpstream(ergon, 'again')
})
after(() => upstream.close())

type Answer = { status: number; headers: Headers; text: string; receipt: string }
const chat = { model: 'again', messages: [{ role: 'user', content: 'Hello' }] }

async function post(
  key: string,
  body: object = chat,
  { token = ergon.token, path = '/v1/chat/completions', signal }: PostOptions = {},
): Promise<Answer> {
  const answer = await fetch(ergon.baseUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
  const receipt = answer.headers.get('x-receipt-id') ?? ''
  return { status: answer.status, headers: answer.headers, text: await answer.text(), receipt }
}
type PostOptions = { token?: string; path?: string; signal?: AbortSignal }

const codeOf = ({ text }: Answer) => (JSON.parse(text) as { error: { code: string } }).error.code

async function assertReplayed(first: Answer, again: Answer): Promise<void> {
  assert.equal(again.status, first.status)
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
  assert.equal(again.headers.get('x-router-reason'), first.headers.get('x-router-reason'))
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal(again.headers.get('x-original-receipt-id'), first.receipt)
  // The replay's own headers: it cost something, far less, and has a receipt of its own.
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(again.headers)), [])
  assert.notEqual(again.receipt, first.receipt)
  const [paid, replay] = [
    await chargeOf(ergon, first.receipt),
    await chargeOf(ergon, again.receipt),
  ]
  assert.equal(again.headers.get('x-energy-joules'), joulesOf(replay))
  assert.equal(
    replay.parts.some((part) => part.meter.startsWith('upstream:')),
    false,
  )
  assert.equal(
    paid.parts.some((part) => part.meter.startsWith('upstream:')),
    true,
  )
}

test('the same request with the same key is answered the same, once by the model', async () => {
  const key = randomUUID()
  const asked = upstream.asked.length
  const first = await post(key)
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  await assertReplayed(first, await post(key))
  await assertReplayed(first, await post(key))
  assert.equal(upstream.asked.length, asked + 1)
})

test('a stream is given again as what it came to', async () => {
  const key = randomUUID()
  const body = { ...chat, stream: true, stream_options: { include_usage: true } }
  const asked = upstream.asked.length
  const first = await post(key, body)
  assert.ok(first.text.endsWith('data: [DONE]\n\n'))
  await assertReplayed(first, await post(key, body))
  assert.equal(upstream.asked.length, asked + 1)
})

test('the key with another body is refused with 422', async () => {
  const key = randomUUID()
  await post(key)
  const other = await post(key, { ...chat, max_tokens: 3 })
  assert.equal(other.status, 422)
  assert.equal(codeOf(other), 'idempotency_key_reused')
  assert.equal((await chargeOf(ergon, other.receipt)).account, ergon.account)
})

test('the key is that of one token and one path', async () => {
  const key = randomUUID()
  await post(key)
  const { token } = await ergon.control('token.create', {
    account: ergon.account,
  })
  const others = [
    await post(key, chat, { token }),
    await post(key, { model: 'again', prompt: 'Hello' }, { path: '/v1/completions' }),
  ]
  for (const other of others) {
    assert.equal(other.status, 200)
    assert.equal(other.headers.get('idempotency-replayed'), null)
  }
})

test('while the first is running the second is told 409', async () => {
  const key = randomUUID()
  const release = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  upstream.script = async (asked, response) => {
    reached.resolve()
    await release.promise
    await honest(asked, response)
  }
  const first = post(key)
  await reached.promise
  const second = await post(key)
  assert.equal(second.status, 409)
  assert.equal(codeOf(second), 'idempotency_in_progress')
  assert.equal(second.headers.get('retry-after'), '1')
  upstream.script = honest
  release.resolve()
  await assertReplayed(await first, await post(key))
})

test('one of twenty at once is served and the others wait or are given its answer', async () => {
  const key = randomUUID()
  const asked = upstream.asked.length
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(key)))
  assert.ok(answers.every(({ status }) => status === 200 || status === 409))
  const served = answers.filter(
    ({ status, headers }) => status === 200 && headers.get('idempotency-replayed') === null,
  )
  assert.equal(served.length, 1)
  assert.equal(upstream.asked.length, asked + 1)
})

const failing: Script = (_asked, response) => {
  response.writeHead(500, { 'content-type': 'application/json' })
  response.end('{"error":{"message":"broken"}}')
}

test('a failure is not kept: the repetition is a new attempt', async () => {
  const key = randomUUID()
  upstream.script = failing
  assert.equal((await post(key)).status, 502)
  upstream.script = honest
  const again = await post(key)
  assert.equal(again.status, 200, again.text)
  assert.equal(again.headers.get('idempotency-replayed'), null)
})

test('a refused body is not kept either', async () => {
  const key = randomUUID()
  assert.equal((await post(key, { model: 'again' })).status, 400)
  assert.equal((await post(key)).status, 200)
})

test('a caller that left gives its key back', async () => {
  const key = randomUUID()
  const reached = Promise.withResolvers<void>()
  upstream.script = () => reached.resolve()
  const leaving = new AbortController()
  const first = post(key, chat, { signal: leaving.signal })
  await reached.promise
  leaving.abort()
  await assert.rejects(first)
  upstream.script = honest
  let again = await post(key)
  // The server learns of it a moment after the client.
  for (let left = 600; again.status === 409 && left > 0; left--) {
    await pause(100)
    again = await post(key)
  }
  assert.equal(again.status, 200)
  assert.ok(again.text.includes(ANSWER))
})

test('an answer outlives its gateway, and work that died with it does not hold its key', async () => {
  const [kept, orphaned] = [randomUUID(), randomUUID()]
  const first = await post(kept)
  const reached = Promise.withResolvers<void>()
  upstream.script = () => reached.resolve()
  const dead = assert.rejects(post(orphaned))
  await reached.promise
  await ergon.killCell('gw-1')
  await dead
  upstream.script = honest
  await ergon.answers()
  await assertReplayed(first, await post(kept))
  const again = await post(orphaned)
  assert.equal(again.status, 200, again.text)
})

test('a key of a day ago is free, and is forgotten', async () => {
  const key = randomUUID()
  await post(key)
  await ergon.sql(
    "update idempotency_keys set begun_at = now() - interval '25 hours' where key = $1",
    [key],
  )
  const again = await post(key, { ...chat, max_tokens: 3 })
  assert.equal(again.status, 200)
  assert.equal(again.headers.get('idempotency-replayed'), null)
})

test('a key that is empty, too long or not ASCII is refused', async () => {
  for (const key of ['', 'k'.repeat(256), 'schlüssel']) {
    const answer = await post(key)
    assert.equal(answer.status, 400, key)
    assert.equal(codeOf(answer), 'invalid_request')
  }
})

test('an answer of over 1 MiB is not kept: its repetition is refused, and not billed', async () => {
  upstream.script = (asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = JSON.stringify({
      choices: [{ index: 0, delta: { content: 'a'.repeat(100_000) }, finish_reason: null }],
    })
    for (let i = 0; i < 12; i++) response.write(`data: ${text}\n\n`)
    response.end(
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    )
    void asked
  }
  for (const body of [chat, { ...chat, stream: true }]) {
    const key = randomUUID()
    const first = await post(key, body)
    assert.equal(first.status, 200)
    assert.ok(first.text.length > 1_100_000)
    const asked = upstream.asked.length
    const again = await post(key, body)
    assert.equal(again.status, 409)
    assert.equal(codeOf(again), 'idempotency_answer_too_large')
    assert.ok(again.text.includes(first.receipt))
    assert.equal(again.headers.get('x-should-retry'), 'false')
    assert.equal(upstream.asked.length, asked)
    const other = await post(key, { ...body, max_tokens: 3 })
    assert.equal(codeOf(other), 'idempotency_key_reused')
    assert.equal((await post(randomUUID(), body)).status, 200)
  }
  upstream.script = honest
})

test('a request without the header does not go to the state', async () => {
  const keys = async () => (await ergon.sql('select count(*) from idempotency_keys'))[0]?.['count']
  const before = await keys()
  const answer = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat),
  })
  assert.equal(answer.status, 200)
  assert.equal(await keys(), before)
})

test('the books add up after repeated keys', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
