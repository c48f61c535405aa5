import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { chatCompletion } from '#contract/inference/inference-replies.ts'
import { parseChatRequest } from '#contract/inference/inference.ts'
import type { KnownReply } from '#http/reply.ts'
import { createChatCreate } from './operations/chat-create.ts'
import { createOpenaiProvider } from './providers/openai/openai-provider.ts'
import type { Provider } from './providers/provider.ts'
import { callOf, depsOf, offerOf, quietLog } from './testing/offers.ts'
import {
  answering,
  DONE,
  plainChunk,
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts'
import { createStrictSpend, type StrictSpend } from './testing/strict-spend.ts'
import { createWholeRule } from './whole.ts'

let upstream: ScriptedUpstream
before(async () => {
  upstream = await startScriptedUpstream('port', answering(500, {}))
})
after(() => upstream.close())

const remote = (): Provider =>
  createOpenaiProvider(
    { name: 'up', at: { kind: 'upstream', baseUrl: upstream.baseUrl, bandPct: 60 } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
const OFFER = offerOf({ provider: 'up' })
const ask = (more: object = {}) =>
  parseChatRequest({
    model: 'small',
    messages: [{ role: 'user', content: 'Say hello' }],
    max_tokens: 20,
    ...more,
  })
const answerOf = (choice: object, usage?: object) => ({
  id: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, ...choice }],
  ...(usage && { usage }),
})
const USAGE = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }
const bodyOf = (reply: KnownReply, spend: StrictSpend) =>
  chatCompletion.parse(JSON.parse(String(reply.body(spend.settle(200)))))

/** Asks once through a provider of its own, or one given. */
async function chat(more: object = {}, spend = createStrictSpend(), provider = remote()) {
  upstream.asked.length = 0
  const call = callOf(ask(more), spend)
  const reply = await createChatCreate(depsOf([OFFER], [provider]))(call)
  return { reply: reply as KnownReply, spend: call.spend }
}
const wasStreamed = () => upstream.asked.at(-1)?.body['stream']

test('a short answer that its caller wants whole is asked for whole, and billed its usage', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call], reasoning: 'hm' }
  const logprobs = { content: [{ token: 'a', logprob: -1, bytes: null, top_logprobs: [] }] }
  upstream.script = answering(
    200,
    answerOf({ message, logprobs, finish_reason: 'tool_calls' }, USAGE),
  )
  const { reply, spend } = await chat()
  assert.equal(wasStreamed(), false)
  assert.equal(upstream.asked.at(-1)?.body['stream_options'], undefined)
  const [choice] = bodyOf(reply, spend).choices
  assert.deepEqual(choice?.message, {
    role: 'assistant',
    content: null,
    refusal: null,
    reasoning_content: 'hm',
    tool_calls: [call],
  })
  assert.deepEqual([choice?.logprobs, choice?.finish_reason], [logprobs, 'tool_calls'])
  // 7 prompt tokens at 1 mJ, 2 at 2 mJ.
  assert.deepEqual(
    spend.claims.map((used) => used.kind === 'upstream' && used.energyNj),
    [11_000_000n],
  )
})

test('several answers in one piece come in the order of their indexes', async () => {
  const one = (index: number, content: string) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: 'stop',
  })
  upstream.script = answering(200, { choices: [one(1, 'b'), one(0, 'a')], usage: USAGE })
  const { reply, spend } = await chat({ n: 2 })
  assert.deepEqual(
    bodyOf(reply, spend).choices.map(({ index, message }) => [index, message.content]),
    [
      [0, 'a'],
      [1, 'b'],
    ],
  )
})

test('an answer in one piece that is not of the shape is a fault of the upstream', async () => {
  for (const body of [
    'not json',
    {},
    answerOf({}, USAGE),
    answerOf({ index: 1, finish_reason: 'stop' }, USAGE),
    answerOf({ message: { content: 5 }, finish_reason: 'stop' }, USAGE),
    { error: { message: 'broken' } },
    { choices: [...answerOf({ finish_reason: 'stop' }).choices, {}], usage: USAGE },
  ]) {
    upstream.script = answering(200, body)
    await assert.rejects(chat(), { code: 'upstream_failed' }, JSON.stringify(body))
  }
})

test('an upstream that was asked for one piece and streams is read as a stream', async () => {
  upstream.script = streaming(plainChunk('Hello'), plainChunk(' you', 'stop'), DONE)
  const { reply, spend } = await chat()
  assert.equal(bodyOf(reply, spend).choices[0]?.message.content, 'Hello you')
})

test('an upstream that does not count is billed by bytes once, then asked for streams', async () => {
  const provider = remote()
  upstream.script = answering(200, answerOf({ finish_reason: 'stop' }))
  const { spend } = await chat({}, createStrictSpend(), provider)
  // 9 bytes of prompt are 1 token of 1 mJ, 5 bytes of answer 1 of 2 mJ.
  assert.deepEqual(
    spend.claims.map((used) => used.kind === 'upstream' && used.energyNj),
    [3_000_000n],
  )
  upstream.script = streaming(plainChunk('Hello', 'stop'), DONE)
  await chat({}, createStrictSpend(), provider)
  assert.equal(wasStreamed(), true)
})

test('a long answer, and one that the hold may not cover, are asked for as streams', async () => {
  upstream.script = streaming(plainChunk('Hello', 'stop'), DONE)
  await chat({ max_tokens: 1025 })
  assert.equal(wasStreamed(), true)
  await chat({ max_tokens: undefined })
  assert.equal(wasStreamed(), true)
  await chat({}, createStrictSpend({ holdNj: 10n ** 12n }))
  assert.equal(wasStreamed(), true)
})

test('a caller that leaves answers in one piece ends their making, and is read as a stream in the end', async () => {
  const provider = remote()
  const handler = createChatCreate(depsOf([OFFER], [provider]))
  const gone = upstream.abandoned()
  for (let left = 0; left < 64; left++) {
    const leaving = callOf(ask())
    upstream.script = () => leaving.leave()
    await assert.rejects(Promise.resolve(handler(leaving)), { message: 'The client has gone' })
    assert.equal(wasStreamed(), false)
  }
  upstream.script = streaming(plainChunk('Hello', 'stop'), DONE)
  await handler(callOf(ask()))
  assert.equal(wasStreamed(), true)
  await provider.close()
  assert.equal(upstream.abandoned(), gone + 64)
})

test('a caller that waits may leave one answer in fifty', () => {
  const rule = createWholeRule()
  const asked = {
    provider: remote(),
    account: 'acct_1',
    tokensMax: 10,
    spend: createStrictSpend(),
  }
  for (let times = 0; times < 200; times++) {
    rule.left('acct_1')
    for (let waited = 0; waited < 51; waited++) rule.stayed('acct_1')
  }
  assert.equal(rule.allows(asked), true)
  for (let times = 0; times < 64; times++) rule.left('acct_1')
  assert.equal(rule.allows(asked), false)
  assert.equal(rule.allows({ ...asked, account: 'acct_2' }), true)
})
