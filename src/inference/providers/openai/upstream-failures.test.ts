// Upstreams that lie, die, hang, refuse or are away: the errors of their callers, and the number of retries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { Secret } from '#base/log.ts'
import { quietLog } from '#inference/testing/offers.ts'
import {
  answering,
  DONE,
  frame,
  plainChunk,
  streaming,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { callOf, energies, read, textOf, withUpstreams } from './openai-provider.fixture.ts'
import { createOpenaiProvider } from './openai-provider.ts'
import type { GenerationEvent, Provider } from '#inference/providers/provider.ts'

let server: ScriptedUpstream
let remote: Provider
let waits: number[]
let lines: string[]
/** Each test of a silent upstream waits this long. */
const LIMIT_MS = 1000
withUpstreams((opened) => ({ server, remote, waits, lines } = opened), LIMIT_MS)

const chunk = (more: object) => frame({ choices: [{ index: 0, delta: {}, ...more }] })
const LIES: [string, Script][] = [
  ['bad JSON', streaming('data: {"choices": [\n\n')],
  ['an array', streaming(frame([]))],
  ['choices that are none', streaming(frame({ choices: 7 }))],
  ['a choice that is none', streaming(frame({ choices: [7] }))],
  ['a delta that is text', streaming(chunk({ delta: 'hi' }))],
  ['content that is a number', streaming(chunk({ delta: { content: 7 } }))],
  ['tool calls that are none', streaming(chunk({ delta: { tool_calls: {} } }))],
  ['a tool call without bounds', streaming(chunk({ delta: { tool_calls: [{ index: 1e9 }] } }))],
  ['a choice that nobody asked for', streaming(chunk({ index: 1, delta: { content: 'a' } }))],
  ['a negative index', streaming(chunk({ index: -1 }))],
  ['usage below zero', streaming(frame({ choices: [], usage: { prompt_tokens: -1 } }))],
  ['no finish reason', streaming(plainChunk('a'), DONE)],
  ['nothing at all', streaming()],
  ['an endless line', streaming(`data: ${'x'.repeat(2 << 20)}`)],
  ['another content type', answering(200, plainChunk('a', 'stop'))],
  ['a page of HTML', answering(500, '<html>oh</html>', { 'content-type': 'text/html' })],
  ['a redirect', answering(302, '', { location: 'http://169.254.169.254/' })],
  ['a refusal of our key', answering(401, { error: { message: 'bad key sk-very-secret' } })],
  ['an error in the stream', streaming(plainChunk('a'), frame({ error: { message: 'CUDA' } }))],
]

for (const [what, script] of LIES)
  test(`an upstream that sends ${what} is a 502 and is asked once`, async () => {
    server.script = script
    await assert.rejects(read(remote), (error: unknown) => {
      assert.deepEqual(
        [(error as { code?: string }).code, (error as { status?: number }).status],
        ['upstream_failed', 502],
      )
      assert.ok(!String(error).includes('secret'), String(error))
      return true
    })
    assert.equal(server.asked.length, 1)
    assert.ok(!lines.join('').includes('secret'))
  })

test('an upstream that dies in the middle fails after what it sent', async () => {
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a'))
    setTimeout(() => response.destroy(), 10)
  }
  const events: GenerationEvent[] = []
  await assert.rejects(
    async () => {
      for await (const some of remote.generate(callOf(), new AbortController().signal))
        events.push(...some)
    },
    { code: 'upstream_failed' },
  )
  assert.equal(textOf(events), 'a')
  assert.deepEqual(energies(events), [12_000_000n])
})

test('an upstream that gives no head, or no more bytes, is a timeout', async () => {
  server.script = () => {}
  await assert.rejects(read(remote), { code: 'upstream_timeout', status: 504 })
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a'))
  }
  await assert.rejects(read(remote), { code: 'upstream_timeout', status: 504 })
  assert.deepEqual(waits, [])
})

test('callers are told in words what an upstream did, not by a code of the connection', async () => {
  const begun: Script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a'))
  }
  const scripts: [Script, string][] = [
    [() => {}, 'wait for the upstream any longer: its answer did not begin'],
    [begun, 'wait for the upstream any longer: it fell silent in the middle of its answer'],
    [(_asked, response) => void response.destroy(), 'read the upstream: it closed the connection'],
    [
      (_asked, response) => void response.socket?.end('garbage\r\n\r\n'),
      'read the upstream: what it sent is not HTTP',
    ],
  ]
  for (const [script, words] of scripts) {
    server.script = script
    await assert.rejects(read(remote), { message: `Could not ${words}` })
  }
})

test('an upstream that is busy is asked again after its Retry-After, twice at most', async () => {
  let count = 0
  server.script = (asked, response) => {
    const script =
      ++count < 3
        ? answering(count === 1 ? 429 : 503, {}, { 'retry-after': '1' })
        : streaming(plainChunk('a', 'stop'))
    return script(asked, response)
  }
  assert.equal(textOf(await read(remote)), 'a')
  assert.deepEqual(waits, [1_000, 1_000])
  server.script = answering(502, 'bad gateway')
  await assert.rejects(read(remote), { code: 'upstream_failed' })
  assert.deepEqual(waits.slice(2), [100, 200])
})

test('an upstream that asks for a long pause is not waited for', async () => {
  server.script = answering(429, {}, { 'retry-after': '30' })
  await assert.rejects(read(remote), { code: 'overloaded', status: 503, retryAfterS: 30 })
  assert.deepEqual(waits, [])
})

test('an upstream that is away is tried thrice, then left alone', async () => {
  const gone = createOpenaiProvider(
    { name: 'gone', at: { kind: 'upstream', baseUrl: 'http://127.0.0.1:9/v1', bandPct: 60 } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
  try {
    const away = 'Could not read the upstream: it could not be reached'
    for (let i = 0; i < 5; i++)
      await assert.rejects(read(gone), { code: 'upstream_failed', message: away })
    await assert.rejects(read(gone), { code: 'overloaded', status: 503 })
  } finally {
    await gone.close()
  }
})

test('a server that dies of a request gets it twice at most', async () => {
  server.script = (_asked, response) => void response.destroy()
  await assert.rejects(read(remote), { code: 'upstream_failed' })
  assert.equal(server.asked.length, 2)
})

test('a server that breaks off an answer which has begun is asked once', async () => {
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
    response.write('{"choices"')
    setTimeout(() => response.destroy(), 10)
  }
  await assert.rejects(read(remote, callOf({ whole: true })), {
    code: 'upstream_failed',
    message: 'Could not read the upstream: it closed the connection',
  })
  assert.equal(server.asked.length, 1)
})

test('a key that would be further headers is not sent, and not told', async () => {
  const provider = createOpenaiProvider(
    {
      name: 'forged',
      at: { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 },
      apiKey: new Secret('sk-very-secret\r\nx-own: 1'),
    },
    { clock: systemClock, log: quietLog },
  )
  try {
    await assert.rejects(read(provider), (error: unknown) => {
      assert.equal((error as { code?: string }).code, 'upstream_failed')
      return !String(error).includes('secret')
    })
    assert.equal(server.asked.length, 0)
  } finally {
    await provider.close()
  }
})

test('a request that the upstream finds at fault is the callers and not counted against it', async () => {
  server.script = answering(400, {
    error: { message: "This model's maximum context length is 5 tokens", code: 400 },
  })
  for (let i = 0; i < 8; i++)
    await assert.rejects(read(remote), { code: 'context_length_exceeded', status: 400 })
})
