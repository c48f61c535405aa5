import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger, Secret } from '#base/log.ts'
import { offerOf } from '#inference/testing/offers.ts'
import {
  answering,
  cellChunk,
  cellHello,
  DONE,
  frame,
  plainChunk,
  startScriptedUpstream,
  streaming,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createOpenaiProvider } from './openai-provider.ts'
import type { GenerationCall, GenerationEvent, Provider } from './provider.ts'

let server: ScriptedUpstream
let cell: ScriptedUpstream
let remote: Provider
let local: Provider
let waits: number[]
let lines: string[]

before(async () => {
  server = await startScriptedUpstream('port', streaming())
  cell = await startScriptedUpstream('socket', streaming())
})
after(async () => {
  await Promise.all([server.close(), cell.close()])
})
beforeEach(async () => {
  await Promise.all([remote?.close(), local?.close()])
  waits = []
  lines = []
  server.asked.length = 0
  const deps = {
    clock: systemClock,
    log: createLogger('test', { write: (line) => void lines.push(line) }),
    sleep: async (ms: number) => void waits.push(ms),
  }
  const timeouts = { connectMs: 500, headersMs: 150, idleMs: 150 }
  remote = createOpenaiProvider(
    {
      name: 'up',
      at: { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 },
      apiKey: new Secret('sk-very-secret'),
      timeouts,
    },
    deps,
  )
  local = createOpenaiProvider(
    { name: 'cell-1', at: { kind: 'cell', socketPath: cell.socketPath }, timeouts },
    deps,
  )
})
after(() => Promise.all([remote.close(), local.close()]))

const callOf = (more: Partial<GenerationCall> = {}): GenerationCall => ({
  shape: 'chat',
  offer: offerOf(),
  body: { messages: [] },
  promptBytes: 80,
  promptTokensMax: 160,
  choices: 1,
  tokensMax: 100,
  ...more,
})

async function read(
  provider: Provider,
  call = callOf(),
  signal = new AbortController().signal,
): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const some of provider.generate(call, signal)) events.push(...some)
  return events
}
const textOf = (events: readonly GenerationEvent[]): string =>
  events.map((event) => (event.kind === 'delta' ? (event.delta.content ?? '') : '')).join('')
const energies = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) =>
    event.kind === 'used' && event.used.kind === 'upstream' ? [event.used.energyNj] : [],
  )

test('an upstream without a meter is billed the tokens seen, then its own usage', async () => {
  server.script = streaming(
    plainChunk('a'),
    plainChunk('b'),
    plainChunk(null, 'stop'),
    frame({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 3, total_tokens: 33 } }),
    DONE,
  )
  const events = await read(remote)
  assert.equal(textOf(events), 'ab')
  assert.equal(energies(events).at(-1), 36_000_000n)
  const used = events.findLast((event) => event.kind === 'used')?.used
  assert.deepEqual(used, {
    kind: 'upstream',
    meter: 'upstream:up',
    method: 'model',
    bandPct: 60,
    energyNj: 36_000_000n,
  })
  assert.deepEqual(events.at(-1), {
    kind: 'end',
    usage: { promptTokens: 30, completionTokens: 3 },
  })
  assert.equal(server.asked[0]?.headers.authorization, 'Bearer sk-very-secret')
  assert.equal(server.asked[0]?.path, '/v1/chat/completions')
})

test('an upstream that declares less than was seen lowers no claim', async () => {
  server.script = streaming(
    plainChunk('a'),
    plainChunk('b'),
    plainChunk(null, 'stop'),
    frame({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  )
  // 10 prompt tokens are counted of 80 bytes: 10 × 1 mJ and 2 mJ for each token seen.
  assert.equal(energies(await read(remote)).at(-1), 14_000_000n)
})

test('an upstream that declares an absurd usage is billed what was seen', async () => {
  for (const usage of [
    { prompt_tokens: 1e12, completion_tokens: 1 },
    { prompt_tokens: 10, completion_tokens: 101 },
  ]) {
    server.script = streaming(plainChunk('a', 'stop'), frame({ choices: [], usage }), DONE)
    const events = await read(remote)
    assert.deepEqual(energies(events), [12_000_000n])
    assert.deepEqual(events.at(-1), {
      kind: 'end',
      usage: { promptTokens: 10, completionTokens: 1 },
    })
  }
})

test('a declared prompt that cannot be is billed as far as it can, and the rest is told apart', async () => {
  const usage = { prompt_tokens: 400, completion_tokens: 1 }
  server.script = streaming(plainChunk('a', 'stop'), frame({ choices: [], usage }), DONE)
  const events = await read(remote)
  assert.equal(energies(events).at(-1), 162_000_000n)
  assert.equal(events.findLast((event) => event.kind === 'used')?.promptExcess, 240)
  assert.deepEqual(events.at(-1), {
    kind: 'end',
    usage: { promptTokens: 160, completionTokens: 1 },
  })
})

test('what is said after the last finish is neither given nor billed', async () => {
  server.script = streaming(
    plainChunk('a', 'stop'),
    ...Array.from({ length: 50 }, () => plainChunk('more')),
    DONE,
  )
  const events = await read(remote)
  assert.equal(textOf(events), 'a')
  assert.equal(energies(events).at(-1), 12_000_000n)
})

test('an upstream without [DONE] or indexes, with comments and reasons of its own, is understood', async () => {
  server.script = streaming(
    ': OPENROUTER PROCESSING\n\n',
    ': {"not":"figures"}\n\n',
    frame({ choices: [{ delta: { role: 'assistant', reasoning: 'hm' } }] }),
    frame({ choices: [{ delta: { content: 'a' }, finish_reason: 'eos_token' }], error: null }),
  )
  const events = await read(remote)
  assert.equal(textOf(events), 'a')
  assert.ok(
    events.some((event) => event.kind === 'delta' && event.delta.reasoning_content === 'hm'),
  )
  assert.ok(events.some((event) => event.kind === 'finish' && event.reason === 'stop'))
})

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

test('an upstream that does not end after [DONE] keeps nobody waiting', async () => {
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a', 'stop') + DONE)
  }
  assert.equal(textOf(await read(remote)), 'a')
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
    { clock: systemClock, log: createLogger('test', { write: () => {} }), sleep: async () => {} },
  )
  try {
    for (let i = 0; i < 5; i++) await assert.rejects(read(gone), { code: 'upstream_failed' })
    await assert.rejects(read(gone), { code: 'overloaded', status: 503 })
  } finally {
    await gone.close()
  }
})

test('a cell that nobody answers for is being started again, however often it is asked', async () => {
  const gone = createOpenaiProvider(
    { name: 'gone', at: { kind: 'cell', socketPath: `${cell.socketPath}.none` } },
    { clock: systemClock, log: createLogger('test', { write: () => {} }), sleep: async () => {} },
  )
  try {
    for (let i = 0; i < 8; i++)
      await assert.rejects(read(gone), { code: 'model_loading', status: 503, retryAfterS: 2 })
  } finally {
    await gone.close()
  }
})

test('a server that dies of a request gets it twice at most', async () => {
  server.script = (_asked, response) => void response.destroy()
  await assert.rejects(read(remote), { code: 'upstream_failed' })
  assert.equal(server.asked.length, 2)
})

test('a request that the upstream finds at fault is the callers and not counted against it', async () => {
  server.script = answering(400, {
    error: { message: "This model's maximum context length is 5 tokens", code: 400 },
  })
  for (let i = 0; i < 8; i++)
    await assert.rejects(read(remote), { code: 'context_length_exceeded', status: 400 })
})

test('calls beyond the connections are refused at once', async () => {
  const narrow = createOpenaiProvider(
    {
      name: 'narrow',
      at: { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 },
      connectionsMax: 1,
    },
    { clock: systemClock, log: createLogger('test', { write: () => {} }) },
  )
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a'))
  }
  try {
    const running = narrow.generate(callOf(), new AbortController().signal)
    await running.next()
    await assert.rejects(read(narrow), { code: 'overloaded', retryAfterS: 1 })
    await running.return()
  } finally {
    await narrow.close()
  }
})

test('a slow reader holds the upstream back', async () => {
  let written = 0
  const big = plainChunk('x'.repeat(60_000))
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const more = () => {
      while (written < 500) {
        written++
        if (!response.write(big)) return void response.once('drain', more)
      }
      response.end(plainChunk(null, 'stop'))
    }
    more()
  }
  const events = remote.generate(callOf({ tokensMax: 1_000 }), new AbortController().signal)
  await events.next()
  await new Promise((resume) => setTimeout(resume, 100))
  // 30 MB are asked for; the kernel's buffers hold a few.
  assert.ok(written < 400, `${written} chunks were taken from the upstream unread`)
  await events.return()
})

test('an aborted call rejects with the reason and closes the connection', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  server.script = (_asked, response) => void response.once('close', resolve)
  const leaving = new AbortController()
  const failed = assert.rejects(read(remote, callOf(), leaving.signal), /left/)
  while (server.asked.length === 0) await new Promise((resume) => setImmediate(resume))
  leaving.abort(new TypeError('The client left'))
  await failed
  await closed
})

test('connections are used again after whole answers', async () => {
  let sockets = 0
  const counting = await startScriptedUpstream('port', (asked, response) => {
    if (response.socket?.listenerCount('close') === undefined) return
    if (!seen.has(response.socket)) {
      seen.add(response.socket)
      sockets++
    }
    return streaming(...cellHello.slice(0, -1), DONE)(asked, response)
  })
  const seen = new WeakSet<object>()
  const provider = createOpenaiProvider(
    { name: 'again', at: { kind: 'upstream', baseUrl: counting.baseUrl, bandPct: 60 } },
    { clock: systemClock, log: createLogger('test', { write: () => {} }) },
  )
  try {
    for (let i = 0; i < 5; i++) assert.equal(textOf(await read(provider)), 'Hello world')
    // The end of one body may still be on its way when the next call needs a connection.
    assert.ok(sockets <= 2, `${sockets} connections for 5 calls`)
  } finally {
    await provider.close()
    await counting.close()
  }
})

test('a cell is billed the CPU that it says, comments during prefill included', async () => {
  cell.script = streaming(...cellHello)
  const events = await read(local)
  assert.deepEqual(
    events.flatMap((event) =>
      event.kind === 'used' && event.used.kind === 'cpu' ? [event.used.cpuNs] : [],
    ),
    [1_000_000n, 2_000_000n, 3_000_000n, 3_500_000n],
  )
})

test('a cell whose figures shrink, are no figures or are missing has failed', async () => {
  for (const script of [
    streaming(cellChunk({ content: 'a' }, [5, 5, 1]), cellChunk({}, [4, 5, 1], 'stop')),
    streaming(': {"cpu_ns":7,"prompt_tokens":5,"completion_tokens":0}\n\n'),
    streaming(': {"cpu_ns":"7","prompt_tokens":-5,"completion_tokens":0}\n\n'),
    streaming(plainChunk('a', 'stop'), DONE),
  ]) {
    cell.script = script
    await assert.rejects(read(local), { code: 'upstream_failed' })
  }
})

test('a cell that breaks off says what it used before it fails', async () => {
  cell.script = streaming(
    cellChunk({ content: 'a' }, [5, 5, 1]),
    frame({
      error: { message: 'The model could not go on' },
      ergon: { cpu_ns: '9', prompt_tokens: 5, completion_tokens: 1 },
    }),
  )
  const seen: bigint[] = []
  await assert.rejects(
    async () => {
      for await (const some of local.generate(callOf(), new AbortController().signal))
        for (const event of some)
          if (event.kind === 'used' && event.used.kind === 'cpu') seen.push(event.used.cpuNs)
    },
    { code: 'upstream_failed', message: 'The model could not go on' },
  )
  assert.deepEqual(seen, [5n, 9n])
})

test('a cell that loads is 503 with Retry-After', async () => {
  cell.script = answering(503, { error: { code: 'model_loading' } }, { 'retry-after': '5' })
  await assert.rejects(read(local), { code: 'model_loading', status: 503, retryAfterS: 5 })
})
