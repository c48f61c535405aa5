// Work that goes wrong on its way: upstreams that refuse, hang, lie or die, a model cell that is killed
// in mid-token, callers that leave, balances that run out. The caller is told in the protocol it is
// in, pays for what was spent, and nothing of it stays held.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  DONE,
  frame,
  plainChunk,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargeOf, joulesOf, leasesReturned } from '../books.ts'
import { writeRandomLlama } from '../gguf/random-llama.ts'
import { energyHeaderFaults } from '../raw-http.ts'
import { sharedErgon } from '../parts.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream, type UpstreamOptions } from '../upstreams.ts'

const NJ_PER_TOKEN = 20_000_000n
const NJ_PER_PROMPT_TOKEN = NJ_PER_TOKEN / 2n + 1n
const CELL = 'nonsense'

let ergon: Ergon
const upstreams: ScriptedUpstream[] = []
const folder = mkdtempSync(join(tmpdir(), 'ergon-gguf-'))
before(async () => {
  ergon = sharedErgon()
  // Cells read it under a uid of their own.
  chmodSync(folder, 0o755)
  const file = join(folder, 'nonsense.gguf')
  writeRandomLlama(file, { context: 512 })
  await ergon.control('POST', '/models', { file, name: CELL, context: 512 })
  await ergon.waitForModel(CELL)
})
after(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.close()))
  rmSync(folder, { recursive: true, force: true })
})

let made = 0
/** A model of its own for each test: what breaks one breaker leaves the others closed. */
const model = async (script: Script, options: UpstreamOptions = {}): Promise<string> =>
  (await modelAndUpstream(script, options)).id

async function modelAndUpstream(script: Script, options: UpstreamOptions = {}) {
  const id = `upstream-${made++}`
  const upstream = await addUpstream(ergon, id, {
    script,
    nj_per_token: String(NJ_PER_TOKEN),
    ...options,
  })
  upstreams.push(upstream)
  return { id, upstream }
}

/** Makes an upstream's silence short enough for a test, and waits until the gateway goes by it. */
async function impatient(id: string): Promise<string> {
  const timeouts = JSON.stringify({ timeouts: { headersMs: 1000, idleMs: 1000 } })
  const change = (state: string) =>
    ergon.sql(
      `with changed as (update models set state = $2, provider = provider || $3::jsonb where id = $1)
       select pg_notify('ergon_models', '')`,
      [id, state, timeouts],
    )
  await change('loading')
  while ((await ergon.modelState(id)) !== 'loading') await pause(25)
  await change('ready')
  await ergon.waitForModel(id)
  return id
}

type PostOptions = {
  readonly token?: string
  readonly path?: string
  readonly signal?: AbortSignal
}
function post(id: string, body: object = {}, options: PostOptions = {}): Promise<Response> {
  const path = options.path ?? '/v1/chat/completions'
  const input = path.endsWith('/embeddings')
    ? { input: ['a', 'b'] }
    : { messages: [{ role: 'user', content: 'Hello there, how are you?' }] }
  return fetch(ergon.baseUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${options.token ?? ergon.token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: id, ...input, ...body }),
    signal: options.signal ?? null,
  })
}

const receiptOf = (answer: Response) => answer.headers.get('x-receipt-id') ?? ''
const upstreamEnergy = (charge: { parts: readonly { meter: string; energy_nj: string }[] }) =>
  BigInt(charge.parts.find(({ meter }) => meter.startsWith('upstream:'))?.energy_nj ?? 0)

async function assertProblem(answer: Response, status: number, code: string): Promise<void> {
  const text = await answer.text()
  assert.equal(answer.status, status, text)
  const problem = JSON.parse(text) as { error: { code: string; type: string } }
  assert.equal(problem.error.code, code)
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
  const charge = await chargeOf(ergon, receiptOf(answer))
  assert.equal(charge.status, status)
  assert.equal(charge.account, ergon.account)
  assert.equal(answer.headers.get('x-energy-joules'), joulesOf(charge))
}

/** A stream that began with 200 and tells of `code` inside, the last thing before [DONE]. */
async function assertCut(answer: Response, status: number, code: string) {
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('x-energy-estimate'), 'ceiling')
  const text = await answer.text()
  const events = text.split('\n\n').filter((event) => event !== '')
  assert.equal(events.at(-1), 'data: [DONE]')
  const last = JSON.parse(events.at(-2)?.slice('data: '.length) ?? '{}') as {
    error?: { code: string; message: string; type: string }
  }
  assert.equal(last.error?.code, code, text)
  const charge = await chargeOf(ergon, receiptOf(answer))
  assert.equal(charge.status, status)
  // Never more than the ceiling that the head stated.
  assert.ok(Number(answer.headers.get('x-energy-joules')) >= Number(joulesOf(charge)))
  return { charge, text }
}

const head = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }
/** Sends pieces of an answer, then does something else. */
const after2 =
  (then: (response: Parameters<Script>[1]) => void): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    response.write(plainChunk('Hello'))
    response.write(plainChunk(' world'))
    // The pieces must have gone out before what follows, as separate writes.
    setTimeout(() => then(response), 50)
  }
/** The same, but only once the caller has both pieces. */
const afterSeen =
  (seen: Promise<void>, then: (response: Parameters<Script>[1]) => void): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    response.write(plainChunk('Hello') + plainChunk(' world'))
    void seen.then(() => then(response))
  }
/** An answer that tells when so much of it was read. */
function telling(answer: Response, wanted: string, tell: () => void): Response {
  let text = ''
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += Buffer.from(chunk).toString()
      if (text.includes(wanted)) tell()
      controller.enqueue(chunk)
    },
  })
  return new Response(answer.body?.pipeThrough(watch), answer)
}
const replies =
  (status: number, body: string, headers: Record<string, string> = json): Script =>
  (_asked, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

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
    await ergon.control('POST', '/models', {
      upstream: `http://127.0.0.1:${port}/v1`,
      upstream_model: 'x',
      name: 'nobody-listens',
    })
    await ergon.waitForModel('nobody-listens')
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
  test('is 502 where the caller does not stream', async () => {
    const id = await model(after2((response) => void response.destroy()))
    await assertProblem(await post(id), 502, 'upstream_failed')
  })
})

describe('an upstream that lies', { concurrency: 4 }, () => {
  const claiming = (usage: object) =>
    after2((response) => {
      response.write(plainChunk(null, 'stop'))
      response.end(frame({ choices: [], usage }) + DONE)
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
      const answer = await post(await model(claiming(usage)), { max_tokens: 16 })
      const charge = await chargeOf(ergon, receiptOf(answer))
      assert.ok([200, 502].includes(answer.status))
      assert.ok(upstreamEnergy(charge) >= 2n * NJ_PER_TOKEN)
      await answer.body?.cancel()
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

/** Says a token every so often until its caller leaves. */
const endless =
  (everyMs: number): Script =>
  (_asked, response) => {
    response.writeHead(200, head)
    const timer = setInterval(() => response.write(plainChunk(' token')), everyMs)
    response.on('close', () => clearInterval(timer))
    response.write(plainChunk('first'))
  }

async function abandonedBy(upstream: ScriptedUpstream): Promise<void> {
  for (let left = 400; upstream.abandoned() !== 1; left--) {
    if (left === 0) throw new Error('the upstream was not let go')
    await pause(25)
  }
}

describe('a caller that leaves', { concurrency: 4 }, () => {
  test('in mid-stream pays for what came, and the upstream is let go', async () => {
    const { id, upstream } = await modelAndUpstream(endless(20))
    const leaving = new AbortController()
    const answer = await post(id, { stream: true }, { signal: leaving.signal })
    const reader = answer.body!.getReader()
    for (let chunks = 0; chunks < 3; chunks++) await reader.read()
    leaving.abort()
    await abandonedBy(upstream)
    const charge = await chargeOf(ergon, receiptOf(answer))
    assert.equal(charge.status, 499)
    assert.ok(upstreamEnergy(charge) >= 3n * NJ_PER_TOKEN)
  })
  test('before the answer is charged 499, and the upstream is let go', async () => {
    const { id, upstream } = await modelAndUpstream(() => undefined)
    const leaving = new AbortController()
    const answer = post(id, {}, { signal: leaving.signal })
    while (upstream.asked.length === 0) await pause(10)
    leaving.abort()
    await assert.rejects(answer)
    await abandonedBy(upstream)
    const status = async () =>
      (await ergon.sql('select status from charges where model = $1', [id]))[0]?.['status']
    for (let left = 400; (await status()) === undefined && left > 0; left--) await pause(25)
    assert.equal(String(await status()), '499')
  })
})

async function accountWith(pusd: string) {
  const { id } = await ergon.control<{ id: string }>('POST', '/accounts', { env: 'test' })
  await ergon.control('POST', `/accounts/${id}/funds`, { pusd })
  const { token, id: tokenId } = await ergon.control<{ token: string; id: string }>(
    'POST',
    '/tokens',
    { account: id },
  )
  return { id, token, tokenId }
}

describe('a right that ends in mid-stream', { concurrency: 4 }, () => {
  test('a balance that runs out cuts the stream, at zero and not below', async () => {
    // About 30 tokens of 0.02 J at 69,444 pUSD a joule.
    const poor = await accountWith('40000')
    const id = await model(endless(10))
    const answer = await post(id, { stream: true }, { token: poor.token })
    const { charge } = await assertCut(answer, 402, 'balance_depleted')
    assert.equal(charge.charge_pusd, '40000')
    const [wallet] = await ergon.sql('select posted from wallets where id = $1', [
      `money:${poor.id}`,
    ])
    assert.equal(wallet?.['posted'], '0')
    const events = await ergon.sql('select type from events where account = $1 order by sequence', [
      poor.id,
    ])
    assert.deepEqual(
      events.map(({ type }) => type),
      ['balance.low', 'balance.depleted'],
    )
    const next = await post(id, {}, { token: poor.token })
    assert.equal(next.status, 402)
  })
  test('a token that is revoked cuts the stream', async () => {
    const owner = await accountWith('5000000000')
    const id = await model(endless(20))
    const answer = await post(id, { stream: true }, { token: owner.token })
    await ergon.control('DELETE', `/tokens/${owner.tokenId}`)
    await assertCut(answer, 401, 'token_revoked')
  })
  test('max_tokens is the most that is billed, whatever the upstream goes on to say', async () => {
    const id = await model(endless(5))
    const answer = await post(id, { stream: true, max_tokens: 4 })
    const text = await answer.text()
    assert.ok(text.endsWith(DONE))
    const charge = await chargeOf(ergon, receiptOf(answer))
    assert.ok(Number(answer.headers.get('x-energy-joules')) >= Number(joulesOf(charge)))
  })
})

describe('a model cell', () => {
  const chat = (body: object) => post(CELL, { max_tokens: 200, ...body })

  test('refuses a prompt longer than its context', async () => {
    const messages = [{ role: 'user', content: 'much too long '.repeat(400) }]
    await assertProblem(await chat({ messages }), 400, 'context_length_exceeded')
    await assertProblem(await chat({ messages, stream: true }), 400, 'context_length_exceeded')
  })

  test('that is killed in mid-token is told inside the stream, and comes back', async () => {
    const answer = await chat({ stream: true, max_tokens: 400, temperature: 0 })
    const reader = answer.body!.getReader()
    const first = await reader.read()
    process.kill(await ergon.pidOf(`model-${CELL}`), 'SIGKILL')
    let text = new TextDecoder().decode(first.value)
    for (let next = await reader.read(); !next.done; next = await reader.read())
      text += new TextDecoder().decode(next.value)
    assert.ok(text.endsWith(DONE))
    assert.ok(text.includes('"error"') && text.includes('upstream_failed'), text.slice(-500))
    const charge = await chargeOf(ergon, receiptOf(answer))
    assert.equal(charge.status, 502)
    assert.ok(BigInt(charge.energy_nj) > 0n)
    assert.ok(Number(charge.completion_tokens) >= 1)

    // Until it is back it is said to be loading, with the time to wait.
    let again = await chat({ max_tokens: 3 })
    for (let left = 400; again.status !== 200 && left > 0; left--) {
      assert.ok(Number(again.headers.get('retry-after')) > 0)
      await assertProblem(again, 503, 'model_loading')
      await pause(100)
      again = await chat({ max_tokens: 3 })
    }
    assert.equal(again.status, 200)
    await again.text()

    // Killed while nothing runs, and asked at once, before anybody can have heard of it.
    process.kill(await ergon.pidOf(`model-${CELL}`), 'SIGKILL')
    await assertProblem(await chat({ max_tokens: 3 }), 503, 'model_loading')
  })
})

test('after all of it no hold is stuck and the books add up', async () => {
  assert.ok(await leasesReturned(ergon, ergon.account))
  assert.deepEqual(await bookFaults(ergon), [])
})
