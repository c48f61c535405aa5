// Answers of a chat, whole and streamed: the text, its figures, and refusals.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printJoules, printMilligrams } from '#base/units.ts'
import { chargeCarbon, chargeEnergy } from '#contract/ledger/charge.ts'
import { chatCompletion, chatCompletionChunk } from '#contract/inference/inference-replies.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { callOf, depsOf, offerOf } from '#inference/testing/offers.ts'
import {
  cellChunk,
  cellHello,
  DONE,
  frame,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createStrictSpend } from '#inference/testing/strict-spend.ts'
import { createChatCreate } from './chat-create.ts'
import {
  ask,
  chunksOf,
  known,
  streamed,
  streamText,
  textOf,
  withCell,
} from './generation.fixture.ts'

let upstream: ScriptedUpstream
let provider: Provider
withCell((opened) => ({ upstream, provider } = opened))

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
    upstream: undefined,
  })
  assert.match(reply.headers?.['x-router-reason'] ?? '', /named by the caller/)
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

test('chat carries the running energy and the ceiling in chunks when include_energy asks', async () => {
  upstream.script = streaming(...cellHello)
  let nowMs = 0
  const deps = depsOf([offerOf()], [provider])
  const clock = { ...deps.clock, monotonicMs: () => (nowMs += 100) }
  const ofStream = async (include_energy: boolean) => {
    const call = callOf(ask({ stream: true, stream_options: { include_energy } }))
    const reply = streamed(await createChatCreate({ ...deps, clock })(call))
    const ceiling = call.spend.estimate().ceilingNj
    const parsed: string[] = []
    for await (const text of reply.chunks) parsed.push(String(text))
    const chunks = parsed
      .flatMap((text) => chunksOf(text))
      .map((one) => chatCompletionChunk.parse(one))
    return {
      ceiling,
      energies: chunks.map(({ energy }) => energy),
      measured: call.spend.measured(),
    }
  }
  const { ceiling, energies, measured } = await ofStream(true)
  const figures = energies.filter((energy) => energy !== undefined)
  assert.ok(figures.length > 0)
  for (const { energy_nj: energy, ceiling_nj: most } of figures) {
    assert.equal(BigInt(most), ceiling)
    assert.ok(BigInt(energy) > 0n && BigInt(energy) <= measured && BigInt(energy) <= ceiling)
  }
  assert.deepEqual(new Set((await ofStream(false)).energies), new Set([undefined]))
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

test('a wished format is no part of the prompt that is held for, and may be one of what is declared', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`field_${index}`, { type: 'string' }]),
  )
  const json_schema = { name: 'wide', schema: { type: 'object', properties } }
  const boundsWith = async (more: object) => {
    upstream.script = streaming(...cellHello)
    const call = callOf(ask({ max_tokens: 5, ...more }))
    await createChatCreate(depsOf([offerOf()], [provider]))(call)
    const [ceilingNj, leastNj] = [call.spend.admissions[0], call.spend.leasts[0]]
    assert.ok(ceilingNj !== undefined && leastNj !== undefined)
    return { ceilingNj, leastNj }
  }
  const bare = await boundsWith({})
  const wide = await boundsWith({ response_format: { type: 'json_schema', json_schema } })
  assert.equal(wide.leastNj, bare.leastNj)
  assert.ok(wide.ceilingNj > bare.ceilingNj)
})
