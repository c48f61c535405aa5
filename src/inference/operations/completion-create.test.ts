import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textCompletion } from '#contract/inference/inference-replies.ts'
import { parseCompletionRequest } from '#contract/inference/inference.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { callOf, depsOf, offerOf } from '#inference/testing/offers.ts'
import {
  DONE,
  frame,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createCompletionCreate } from './completion-create.ts'
import { withCell } from './generation.fixture.ts'

let upstream: ScriptedUpstream
let provider: Provider
withCell((opened) => ({ upstream, provider } = opened))

const piece = (index: number, text: string, finish: string | null = null) =>
  frame({
    object: 'text_completion',
    choices: [
      {
        index,
        text,
        logprobs: { tokens: [text], token_logprobs: [-1], text_offset: [0], top_logprobs: [null] },
        finish_reason: finish,
      },
    ],
    ergon: { cpu_ns: '5', prompt_tokens: 2, completion_tokens: 4 },
  })
const answer = [
  piece(0, 'on'),
  piece(1, 'tw'),
  piece(0, 'e', 'stop'),
  piece(1, 'o', 'length'),
  DONE,
]
const run = async (more: Record<string, unknown>) => {
  const call = callOf(parseCompletionRequest({ model: 'auto', prompt: ['a', 'b'], ...more }))
  const reply = await createCompletionCreate(depsOf([offerOf()], [provider]))(call)
  return { call, reply }
}

test('completions answer each prompt, with logprobs put together', async () => {
  upstream.script = streaming(...answer)
  upstream.asked.length = 0
  const { call, reply } = await run({ suffix: null, echo: false, logprobs: 1 })
  assert.ok(reply.kind === 'known')
  const body = textCompletion.parse(JSON.parse(String(reply.body(call.spend.settle(200)))))
  assert.deepEqual(
    body.choices.map(({ index, text, finish_reason: reason }) => [index, text, reason]),
    [
      [0, 'one', 'stop'],
      [1, 'two', 'length'],
    ],
  )
  assert.deepEqual(body.choices[0]?.logprobs?.['tokens'], ['on', 'e'])
  assert.ok(body.id.startsWith('cmpl'))
  assert.equal(body.usage?.total_tokens, 6)
  assert.equal(upstream.asked[0]?.path, '/v1/completions')
  // OpenAI's default for this endpoint, and what was admitted.
  assert.equal(upstream.asked[0]?.body['max_tokens'], 16)
})

test('completions stream text_completion chunks and end with the usage', async () => {
  upstream.script = streaming(...answer)
  const { call, reply } = await run({ stream: true })
  assert.ok(reply.kind === 'streamed')
  let text = ''
  for await (const chunk of reply.chunks) text += String(chunk)
  text += reply.last(call.spend.settle(200))
  assert.ok(text.endsWith(DONE))
  const chunks = text
    .split('\n\n')
    .slice(0, -2)
    .map((line) => textCompletion.parse(JSON.parse(line.slice(6))))
  assert.deepEqual(
    chunks.map(({ choices }) => [choices[0]?.index, choices[0]?.text, choices[0]?.finish_reason]),
    [
      [0, 'on', null],
      [1, 'tw', null],
      [0, 'e', null],
      [1, 'o', null],
      [0, '', 'stop'],
      [1, '', 'length'],
    ],
  )
  assert.equal(chunks.at(-1)?.usage?.completion_tokens, 4)
})

test('completions refuse best_of, which no stream can give', async () => {
  await assert.rejects(run({ best_of: 3, n: 1 }), {
    code: 'unsupported_parameter',
    param: 'best_of',
  })
})
