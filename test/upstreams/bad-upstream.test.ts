// Upstreams that refuse, hang, die or report false figures: the caller gets an error in its own protocol, pays for
// the spent energy, and nothing stays held.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { DONE, frame, plainChunk, type Script } from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargeOf } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import {
  after2,
  afterSeen,
  assertCut,
  assertProblem,
  closeUpstreams,
  impatient,
  json,
  model,
  NJ_PER_PROMPT_TOKEN,
  NJ_PER_TOKEN,
  post,
  receiptOf,
  replies,
  telling,
  upstreamEnergy,
} from './scripted-models.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})
after(closeUpstreams)

describe('an upstream that refuses', { concurrency: 4 }, () => {
  const error = (code: string, message = 'no') =>
    JSON.stringify({ error: { message, type: 'x', code, param: 'messages' } })
  const cases: Record<string, [Script, number, string]> = {
    'with 500': [replies(500, error('broken')), 502, 'upstream_failed'],
    'our key with 401': [replies(401, error('invalid_api_key')), 502, 'upstream_failed'],
    'with 403': [replies(403, error('forbidden')), 502, 'upstream_failed'],
    'with 404': [replies(404, error('model_not_found')), 502, 'upstream_failed'],
    'with 429 for long': [
      replies(429, error('rate'), { ...json, 'retry-after': '900' }),
      503,
      'overloaded',
    ],
    'with 504': [replies(504, 'x'), 504, 'upstream_timeout'],
    'the request with 400': [replies(400, error('weird')), 400, 'invalid_request'],
    'a prompt that is too long': [
      replies(400, error('context_length_exceeded')),
      400,
      'context_length_exceeded',
    ],
    'with a redirect': [
      replies(302, '', { location: 'http://169.254.169.254/' }),
      502,
      'upstream_failed',
    ],
    'with a page of HTML': [
      replies(200, '<html>', { 'content-type': 'text/html' }),
      502,
      'upstream_failed',
    ],
    'with JSON where a stream was asked': [replies(200, '{"choices":[]}'), 502, 'upstream_failed'],
    'with nothing at all': [(_asked, response) => void response.destroy(), 502, 'upstream_failed'],
    'with half a head': [
      (_asked, response) => void response.socket?.end('HTTP/1.1 200 OK\r\nContent-'),
      502,
      'upstream_failed',
    ],
    'with a head that is none': [
      (_asked, response) => void response.socket?.end('220 smtp ready\r\n\r\n'),
      502,
      'upstream_failed',
    ],
  }
  for (const [what, [script, status, code]] of Object.entries(cases))
    test(`${what} is ${status} ${code}`, async () => {
      await assertProblem(await post(await model(script)), status, code)
    })

  test('every connection is 502', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    await ergon.control('model.add', {
      upstream: `http://127.0.0.1:${port}/v1`,
      upstream_model: 'x',
      name: 'nobody-listens',
    })
    await assertProblem(await post('nobody-listens'), 502, 'upstream_failed')
  })
})

describe('an upstream that hangs', { concurrency: 4 }, () => {
  test('before its head is 504', async () => {
    const id = await impatient(await model(() => undefined))
    await assertProblem(await post(id), 504, 'upstream_timeout')
  })
  test('in mid-stream is told inside the stream', async () => {
    const id = await impatient(await model(after2(() => undefined)))
    await assertCut(await post(id, { stream: true }), 504, 'upstream_timeout')
  })
  test('in mid-answer is 504 where the caller does not stream', async () => {
    const id = await impatient(await model(after2(() => undefined)))
    await assertProblem(await post(id), 504, 'upstream_timeout')
  })
})

describe('an upstream that dies in mid-stream', { concurrency: 4 }, () => {
  const deaths: Record<string, (response: Parameters<Script>[1]) => void> = {
    'by a reset': (response) => void response.socket?.resetAndDestroy(),
    'by closing': (response) => void response.destroy(),
    'by ending without a finish reason': (response) => void response.end(),
    'by [DONE] without a finish reason': (response) => void response.end(DONE),
    'with an error chunk': (response) =>
      void response.end(frame({ error: { message: 'out of memory', code: 'x' } })),
    'with broken JSON': (response) => void response.end('data: {"choices": [\n\n'),
    'with a choice that was not asked': (response) =>
      void response.end(frame({ choices: [{ index: 7, delta: { content: 'x' } }] })),
    'with an event of 2 MiB': (response) =>
      void response.end(`data: ${'a'.repeat(2 * 1024 * 1024)}\n\n`),
  }
  for (const [how, die] of Object.entries(deaths))
    test(`${how} is told inside the stream, and what came is paid`, async () => {
      const seen = Promise.withResolvers<void>()
      const id = await model(afterSeen(seen.promise, die))
      const answer = telling(await post(id, { stream: true }), ' world', seen.resolve)
      const { charge, text } = await assertCut(answer, 502, 'upstream_failed')
      assert.ok(text.includes('Hello') && text.includes(' world'))
      // Two tokens came; the prompt is estimated from its bytes.
      const energy = upstreamEnergy(charge)
      assert.ok(
        energy >= 2n * NJ_PER_TOKEN && energy <= 2n * NJ_PER_TOKEN + 20n * NJ_PER_PROMPT_TOKEN,
      )
    })
  test('is 502 where the caller does not stream, and what came is the operator’s', async () => {
    const id = await model(after2((response) => void response.destroy()))
    const answer = await post(id)
    await assertProblem(answer, 502, 'upstream_failed')
    assert.equal(upstreamEnergy(await chargeOf(ergon, receiptOf(answer))), 0n)
    const [borne] = await ergon.sql(
      `select account, free, energy_nj::text from charges
       where operation = 'service.nobody' and convert_from(bytes, 'UTF8') like $1`,
      [`%"request":"${answer.headers.get('x-request-id')}"%`],
    )
    const energyNj = 2n * NJ_PER_TOKEN + 3n * NJ_PER_PROMPT_TOKEN
    assert.deepEqual(borne, { account: 'nobody', free: true, energy_nj: energyNj.toString() })
  })
})

describe('an upstream that lies', { concurrency: 4 }, () => {
  const claiming = (usage: object) =>
    after2((response) => {
      response.write(plainChunk(null, 'stop'))
      // In a read of its own: of what comes at once with a lie nothing is given.
      setTimeout(() => response.end(frame({ choices: [], usage }) + DONE), 100)
    })
  for (const [how, usage] of Object.entries({
    'of a billion tokens': { prompt_tokens: 1_000_000_000, completion_tokens: 1_000_000_000 },
    'of more tokens than were asked for': { prompt_tokens: 9, completion_tokens: 17 },
  }))
    test(`${how} is not believed: what was seen is billed`, async () => {
      const answer = await post(await model(claiming(usage)), { max_tokens: 16 })
      assert.equal(answer.status, 200)
      const charge = await chargeOf(ergon, receiptOf(answer))
      assert.ok(upstreamEnergy(charge) <= 2n * NJ_PER_TOKEN + 20n * NJ_PER_PROMPT_TOKEN)
      assert.equal(charge.completion_tokens, '2')
    })
  for (const [how, usage] of Object.entries({
    negative: { prompt_tokens: -5, completion_tokens: -5 },
    fractional: { prompt_tokens: 1.5, completion_tokens: 2.5 },
    textual: { prompt_tokens: '9', completion_tokens: '2' },
  }))
    test(`with a ${how} number of tokens gives nobody energy back`, async () => {
      const answer = await post(await model(claiming(usage)), { max_tokens: 16, stream: true })
      // The answer was there before the lie.
      assert.match(await answer.text(), /"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/)
      const charge = await chargeOf(ergon, receiptOf(answer))
      assert.deepEqual([charge.status, charge.completion_tokens], [200, '2'])
      assert.ok(upstreamEnergy(charge) >= 2n * NJ_PER_TOKEN)
    })
  const vectors = (embeddings: readonly unknown[]) =>
    replies(
      200,
      JSON.stringify({
        object: 'list',
        data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
        usage: { prompt_tokens: 2, total_tokens: 2 },
      }),
    )
  for (const [how, script] of Object.entries({
    'too few vectors': vectors([[1, 2, 3, 4]]),
    'a vector of another size': vectors([
      [1, 2, 3, 4],
      [1, 2],
    ]),
    'texts for numbers': vectors([
      ['1', '2', '3', '4'],
      ['1', '2', '3', '4'],
    ]),
    'nulls for numbers': vectors([
      [null, 2, 3, 4],
      [1, 2, 3, 4],
    ]),
  }))
    test(`with ${how} is 502`, async () => {
      const id = await model(script, { embedding: true })
      await assertProblem(await post(id, {}, { path: '/v1/embeddings' }), 502, 'upstream_failed')
    })
})

test('after all of it the books add up', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
