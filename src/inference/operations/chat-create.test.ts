import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { ErgonError, present } from '#base/errors.ts'
import { printJoules, printMilligrams } from '#base/units.ts'
import { chargeCarbon, chargeEnergy } from '#contract/charge.ts'
import { fault } from '#contract/errors.ts'
import { chatCompletion, chatCompletionChunk } from '#contract/inference-replies.ts'
import { parseChatRequest } from '#contract/inference.ts'
import type { KnownReply, Reply, StreamedReply } from '#http/reply.ts'
import { BREAKER_POLICY } from '#inference/providers/breaker.ts'
import { createFailures } from '#inference/failures.ts'
import { createOpenaiProvider } from '#inference/providers/openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { createShares } from '#inference/shares.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import {
  answering,
  cellChunk,
  cellHello,
  DONE,
  frame,
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createStrictSpend, type StrictSpend } from '#inference/testing/strict-spend.ts'
import { createChatCreate } from './chat-create.ts'

let upstream: ScriptedUpstream
let provider: Provider
before(async () => {
  upstream = await startScriptedUpstream('socket', streaming(...cellHello))
  provider = createOpenaiProvider(
    { name: 'cell-small', at: { kind: 'cell', socketPath: upstream.socketPath } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
})
after(async () => {
  await provider.close()
  await upstream.close()
})

const ask = (more: Record<string, unknown> = {}) =>
  parseChatRequest({ model: 'small', messages: [{ role: 'user', content: 'Hi' }], ...more })

function known(reply: Reply): KnownReply {
  assert.equal(reply.kind, 'known')
  return reply as KnownReply
}
function streamed(reply: Reply): StreamedReply {
  assert.equal(reply.kind, 'streamed')
  return reply as StreamedReply
}
const textOf = (reply: KnownReply, spend: StrictSpend): string =>
  String(reply.body(spend.settle(200)))

async function streamText(reply: StreamedReply, spend: StrictSpend): Promise<string> {
  let text = ''
  for await (const chunk of reply.chunks) text += String(chunk)
  return text + reply.last(spend.settle(200))
}
const chunksOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n\n')
    .filter((line) => line !== '' && line !== 'data: [DONE]')
    .map((line) => {
      assert.ok(line.startsWith('data: '), line)
      return JSON.parse(line.slice(6)) as Record<string, unknown>
    })

test('chat answers whole with the figures of the charge to the last digit', async () => {
  upstream.script = streaming(...cellHello)
  const call = callOf(ask(), createStrictSpend({ ownNj: 9_007_199_254_740_993_123n }))
  const reply = known(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  const text = textOf(reply, call.spend)
  const body = chatCompletion.parse(JSON.parse(text))
  assert.equal(body.choices[0]?.message.content, 'Hello world')
  assert.equal(body.choices[0]?.finish_reason, 'stop')
  assert.equal(body.model, 'small')
  assert.deepEqual(
    [body.usage.prompt_tokens, body.usage.completion_tokens, body.usage.total_tokens],
    [5, 2, 7],
  )
  const charge = call.spend.settle(200)
  assert.ok(text.includes(`"energy_j":${printJoules(chargeEnergy(charge))},`), text)
  assert.ok(text.includes(`"carbon_mg":${printMilligrams(chargeCarbon(charge))}}`), text)
  assert.deepEqual(call.spend.claims.at(-1), {
    kind: 'cpu',
    cell: 'cell-small',
    cpuNs: 3_500_000n,
  })
  assert.deepEqual(call.spend.facts, {
    model: 'small',
    tier: 'L0',
    routedTo: 'ergon/local/cpu-x64',
    promptTokens: 5,
    completionTokens: 2,
  })
  assert.match(reply.headers?.['x-router-reason'] ?? '', /named by the caller/)
})

test('chat asks the upstream for a stream by its own name and sends no unknown field', async () => {
  upstream.script = streaming(...cellHello)
  upstream.asked.length = 0
  const call = callOf(
    ask({ max_completion_tokens: 9, kv_transfer_params: { remote_host: 'evil' }, stop: null }),
  )
  await createChatCreate(depsOf([offerOf()], [provider]))(call)
  const [asked] = upstream.asked
  assert.equal(asked?.path, '/v1/chat/completions')
  assert.deepEqual(asked?.body, {
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 9,
    model: 'upstream-small',
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('chat streams chunks and ends with the finish chunk that carries the usage', async () => {
  upstream.script = streaming(...cellHello)
  const call = callOf(ask({ stream: true }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  const text = await streamText(reply, call.spend)
  assert.ok(text.endsWith(DONE))
  assert.ok(!text.includes('event:'))
  const chunks = chunksOf(text).map((chunk) => chatCompletionChunk.parse(chunk))
  assert.deepEqual(chunks[0]?.choices[0]?.delta, { role: 'assistant', content: 'Hello' })
  assert.deepEqual(chunks[1]?.choices[0]?.delta, { content: ' world' })
  assert.deepEqual(
    chunks.map((chunk) => chunk.choices[0]?.finish_reason),
    [null, null, 'stop'],
  )
  assert.equal(chunks[2]?.usage?.total_tokens, 7)
  const energy = printJoules(chargeEnergy(call.spend.settle(200)))
  assert.ok(text.includes(`"energy_j":${energy},`))
})

test('chat gives the usage a chunk of its own without choices when include_usage asks', async () => {
  upstream.script = streaming(...cellHello)
  const call = callOf(ask({ stream: true, stream_options: { include_usage: true } }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  const chunks = chunksOf(await streamText(reply, call.spend))
  assert.deepEqual(chunks.at(-1)?.['choices'], [])
  assert.equal(chatCompletionChunk.parse(chunks.at(-1)).usage?.total_tokens, 7)
  assert.deepEqual(
    chunks.slice(0, -1).map((chunk) => chunk['usage']),
    [null, null, null],
  )
})

test('chat is cut when its hold is used up, and says so inside the stream', async () => {
  upstream.script = streaming(
    // In one write: nothing of what came with the cut may still go out.
    [
      cellChunk({ content: 'a' }, [1_000_000, 5, 1]),
      cellChunk({ content: 'b' }, [900_000_000, 5, 2]),
      cellChunk({ content: 'c' }, [1_000_000_000, 5, 3]),
    ].join(''),
  )
  const call = callOf(ask({ stream: true }), createStrictSpend({ holdNj: 1_000_000_000n }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  let text = ''
  const error = await (async () => {
    for await (const chunk of reply.chunks) text += String(chunk)
  })().catch((thrown: unknown) => thrown)
  assert.ok(error instanceof ErgonError)
  assert.equal(error.code, 'balance_depleted')
  assert.ok(text.includes('"a"') && !text.includes('"b"'), text)
  assert.deepEqual(chunksOf(reply.cut(error, call.spend.settle(200))), [
    {
      error: {
        message: 'The hold is used up',
        type: 'insufficient_quota',
        code: 'balance_depleted',
        param: null,
      },
    },
  ])
  assert.equal(call.spend.claims.length, 2)
})

test('chat that is cut between two chunks never looks complete', async () => {
  upstream.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  const call = callOf(ask({ stream: true }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  const chunks = reply.chunks[Symbol.asyncIterator]()
  assert.equal((await chunks.next()).done, false)
  call.spend.cutNow(fault('draining', 'This process stops'))
  await assert.rejects(chunks.next(), { code: 'draining' })
})

test('chat closes the upstream when its reader leaves, and what came is claimed', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  upstream.script = (_asked, response) => {
    response.once('close', resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
    response.write(cellChunk({ content: 'b' }, [2_000_000, 5, 2]))
  }
  const call = callOf(ask({ stream: true }))
  const reply = streamed(await createChatCreate(depsOf([offerOf()], [provider]))(call))
  for await (const chunk of reply.chunks) {
    assert.ok(String(chunk).startsWith('data: '))
    // Both come in one step when the network delivers them together.
    if (String(chunk).includes('"b"')) break
  }
  await closed
  assert.equal(call.spend.facts.completionTokens, 2)
})

test('chat closes the upstream when the client goes before its stream is read', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  upstream.script = (_asked, response) => {
    response.once('close', resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  // One call at a time: a call that is not given back would refuse the next one.
  const narrow = createOpenaiProvider(
    {
      name: 'cell-small',
      at: { kind: 'cell', socketPath: upstream.socketPath },
      connectionsMax: 1,
    },
    { clock: systemClock, log: quietLog },
  )
  try {
    const handler = createChatCreate(depsOf([offerOf()], [narrow]))
    const call = callOf(ask({ stream: true }))
    streamed(await handler(call))
    call.leave()
    await closed
    upstream.script = streaming(...cellHello)
    const next = callOf(ask())
    assert.match(textOf(known(await handler(next)), next.spend), /Hello world/)
  } finally {
    await narrow.close()
  }
})

test('chat leaves calls to other accounts, and tells its own cell whose turn it is', async () => {
  upstream.asked.length = 0
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  let open = 0
  upstream.script = (_asked, response) => {
    open++
    response.once('close', () => --open === 0 && resolve())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(cellChunk({ content: 'a' }, [1_000_000, 5, 1]))
  }
  const deps = { ...depsOf([offerOf({ isCell: true })], [provider]), shares: createShares(4) }
  const handler = createChatCreate(deps)
  const calls: { leave(): void }[] = []
  const begin = async (account: string) => {
    const call = callOf(ask({ stream: true }))
    const who = { ...present(call.who, 'a principal'), account }
    streamed(await handler({ ...call, who }))
    calls.push(call)
  }
  await begin('acct_1')
  await begin('acct_1')
  await assert.rejects(begin('acct_1'), { code: 'too_many_requests', status: 429 })
  await begin('acct_2')
  assert.deepEqual(
    upstream.asked.map(({ body }) => body['ergon_payer']),
    ['acct_1', 'acct_1', 'acct_2'],
  )
  for (const call of calls) call.leave()
  await gone
  await begin('acct_1')
  calls.at(-1)?.leave()
})

test('chat closes the upstream when the client goes during prefill', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { promise: began, resolve: begin } = Promise.withResolvers<void>()
  upstream.script = (_asked, response) => {
    response.once('close', resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': {"cpu_ns":"5000000","prompt_tokens":64,"completion_tokens":0}\n\n')
    begin()
  }
  const call = callOf(ask())
  const running = Promise.resolve(createChatCreate(depsOf([offerOf()], [provider]))(call))
  const failed = assert.rejects(running, /client has gone/)
  await began
  while (call.spend.claims.length === 0) await new Promise((resume) => setImmediate(resume))
  call.leave()
  await failed
  await closed
  assert.equal(call.spend.facts.promptTokens, 64)
})

test('chat gives tool calls whole and in pieces', async () => {
  const pieces = [
    {
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'get', arguments: '' } },
      ],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
  ]
  upstream.script = streaming(
    ...pieces.map((delta, at) => cellChunk(delta, [at + 1, 5, at + 1])),
    cellChunk({}, [9, 5, 4], 'tool_calls'),
    DONE,
  )
  const tools = [{ type: 'function', function: { name: 'get', parameters: { type: 'object' } } }]
  const handler = createChatCreate(depsOf([offerOf()], [provider]))
  const whole = callOf(ask({ tools }))
  const body = chatCompletion.parse(
    JSON.parse(textOf(known(await handler(whole)), whole.spend)) as unknown,
  )
  assert.equal(body.choices[0]?.finish_reason, 'tool_calls')
  assert.equal(body.choices[0]?.message.content, null)
  assert.deepEqual(body.choices[0]?.message.tool_calls, [
    { id: 'call_1', type: 'function', function: { name: 'get', arguments: '{"a":1}' } },
  ])
  const inPieces = callOf(ask({ tools, stream: true }))
  const chunks = chunksOf(await streamText(streamed(await handler(inPieces)), inPieces.spend))
  const deltas = chunks.map((chunk) => (chunk['choices'] as { delta: object }[])[0]?.delta)
  assert.deepEqual(deltas[0], { role: 'assistant', content: null, ...pieces[0] })
  assert.deepEqual(deltas[2], pieces[2])
})

test('chat gives several choices with logprobs, each opened by its role', async () => {
  const choice = (index: number, content: string, finish: string | null) =>
    frame({
      choices: [
        {
          index,
          delta: { content },
          logprobs: { content: [{ token: content, logprob: -1 }], refusal: null },
          finish_reason: finish,
        },
      ],
      ergon: { cpu_ns: '5', prompt_tokens: 5, completion_tokens: 1 },
    })
  upstream.script = streaming(
    choice(1, 'b', null),
    choice(0, 'a', null),
    choice(1, 'd', 'length'),
    choice(0, 'c', 'stop'),
    DONE,
  )
  const handler = createChatCreate(depsOf([offerOf()], [provider]))
  const whole = callOf(ask({ n: 2, logprobs: true }))
  const body = chatCompletion.parse(
    JSON.parse(textOf(known(await handler(whole)), whole.spend)) as unknown,
  )
  assert.deepEqual(
    body.choices.map(({ index, message, finish_reason: reason }) => [
      index,
      message.content,
      reason,
    ]),
    [
      [0, 'ac', 'stop'],
      [1, 'bd', 'length'],
    ],
  )
  assert.deepEqual(body.choices[1]?.logprobs, {
    content: [
      { token: 'b', logprob: -1 },
      { token: 'd', logprob: -1 },
    ],
  })
  const inPieces = callOf(ask({ n: 2, logprobs: true, stream: true }))
  const chunks = chunksOf(await streamText(streamed(await handler(inPieces)), inPieces.spend))
  const parsed = chunks.map((chunk) => chatCompletionChunk.parse(chunk).choices[0])
  assert.deepEqual(
    parsed.slice(0, 3).map((one) => [one?.index, one?.delta.role]),
    [
      [1, 'assistant'],
      [0, 'assistant'],
      [1, undefined],
    ],
  )
  assert.deepEqual(
    parsed.slice(-2).map((one) => one?.finish_reason),
    ['length', 'stop'],
  )
})

test('chat passes on what the model finds wrong with the request, and claims what it took', async () => {
  upstream.script = answering(400, {
    ergon: { cpu_ns: '77', prompt_tokens: 9, completion_tokens: 0 },
    error: { message: 'Too long by 9 tokens', code: 'context_length_exceeded', param: 'messages' },
  })
  const handler = createChatCreate(depsOf([offerOf()], [provider]))
  const call = callOf(ask())
  await assert.rejects(Promise.resolve(handler(call)), {
    code: 'context_length_exceeded',
    status: 400,
    message: 'Too long by 9 tokens',
    param: 'messages',
  })
  assert.deepEqual(call.spend.claims, [{ kind: 'cpu', cell: 'cell-small', cpuNs: 77n }])
})

test('chat with auto falls back to the next offer and keeps what the first one used', async () => {
  // A pause of the breaker does not end, however busy the machine is.
  const still = { ...systemClock, monotonicMs: () => 0 }
  const dying = await startScriptedUpstream('socket', (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': {"cpu_ns":"7000000","prompt_tokens":5,"completion_tokens":0}\n\n')
    setImmediate(() => response.destroy())
  })
  const other = createOpenaiProvider(
    { name: 'cell-dying', at: { kind: 'cell', socketPath: dying.socketPath } },
    { clock: still, log: quietLog, sleep: async () => {} },
  )
  try {
    upstream.script = streaming(...cellHello)
    const cheap = offerOf({
      id: 'cheap',
      provider: 'cell-dying',
      njPerCompletionToken: offerOf().njPerPromptToken,
    })
    const call = callOf(ask({ model: 'auto' }))
    const reply = known(await createChatCreate(depsOf([cheap, offerOf()], [other, provider]))(call))
    assert.equal(
      reply.headers?.['x-router-reason'],
      'L0: short, lookup words; cheap failed (upstream_failed); served by small, meant for L3',
    )
    assert.equal(call.spend.facts.model, 'small')
    assert.equal(call.spend.admissions.length, 2)
    const cells = new Set(call.spend.claims.map((used) => used.kind === 'cpu' && used.cell))
    assert.deepEqual([...cells], ['cell-dying', 'cell-small'])
    const pinned = callOf(ask({ model: 'cheap' }))
    await assert.rejects(
      Promise.resolve(createChatCreate(depsOf([cheap, offerOf()], [other, provider]))(pinned)),
      { code: 'upstream_failed' },
    )
    // After failures in a row it is left alone, and nobody is told that it would be the cheapest.
    const all = depsOf([cheap, offerOf()], [other, provider])
    const failures = createFailures({ log: quietLog, clock: still, providers: all.providers })
    const deps = { ...all, failures }
    const reasons: string[] = []
    for (let asked = 0; asked < BREAKER_POLICY.failuresMax + 1; asked++) {
      const again = callOf(ask({ model: 'auto' }))
      const reply = known(await createChatCreate(deps)(again))
      reasons.push(reply.headers?.['x-router-reason'] ?? '')
    }
    assert.ok(reasons.some((said) => /; cheap failed \(overloaded\); served by small/.test(said)))
    assert.match(reasons.at(-1) ?? '', /^L0: .*; small is the only capable model at /)
  } finally {
    await other.close()
    await dying.close()
  }
})

test('chat refuses what nobody serves here by name', async () => {
  const handler = createChatCreate(depsOf([offerOf()], [provider]))
  for (const [param, value] of [
    ['functions', [{ name: 'f' }]],
    ['function_call', 'auto'],
    ['web_search_options', {}],
    ['modalities', ['text', 'audio']],
  ] as const)
    await assert.rejects(Promise.resolve(handler(callOf(ask({ [param]: value })))), {
      code: 'unsupported_parameter',
      param,
    })
})

test('chat teaches what the model costs from its settled charge', async () => {
  upstream.script = streaming(...cellHello)
  const deps = depsOf([offerOf()], [provider])
  const call = callOf(ask())
  textOf(known(await createChatCreate(deps)(call)), call.spend)
  assert.equal(deps.learned.perThousandTokens(offerOf()).samples, 1)
})
