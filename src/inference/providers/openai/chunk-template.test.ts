import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { offerOf } from '#inference/testing/offers.ts'
import { parseChunk } from './chunk.ts'
import { createChunkTemplate } from './chunk-template.ts'
import { createGenerationReader } from './generation-reader.ts'
import { tokenMeter } from './meter.ts'
import type { GenerationCall, GenerationEvent } from '#inference/providers/provider.ts'

/** Texts that look like parts of a chunk, so that wrong matches would be found. */
const piece = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('a', 'x', '"', '\\', '\n', '"}', '{"content":"a"}', 'ergon-probe', '\u2028', 'é'),
)
const choice = (shape: 'chat' | 'text') =>
  fc
    .record({
      index: fc.constantFrom(0, 0, 0, 1),
      text: piece,
      more: fc.constantFrom({}, {}, {}, { role: 'assistant' }, { refusal: 'no' }),
      logprobs: fc.constantFrom(null, null, null, { content: [{ token: 'a' }] }),
      finish: fc.constantFrom(null, null, null, null, 'stop'),
    })
    .map(({ index, text, more, logprobs, finish }) => ({
      index,
      ...(shape === 'chat' ? { delta: { ...more, content: text } } : { text }),
      logprobs,
      finish_reason: finish,
    }))
const chunk = (shape: 'chat' | 'text') =>
  fc.record(
    {
      id: fc.constantFrom('x', 'x', 'x', 'a'),
      content: fc.constantFrom('x', 'x', 'a'),
      choices: fc.oneof(
        { arbitrary: fc.tuple(choice(shape)), weight: 5 },
        { arbitrary: fc.array(choice(shape), { maxLength: 2 }), weight: 1 },
      ),
      usage: fc.constantFrom(null, null, null, { prompt_tokens: 1, completion_tokens: 2 }),
    },
    { requiredKeys: ['id', 'choices', 'usage'] },
  )

for (const shape of ['chat', 'text'] as const)
  test(`a ${shape} chunk that a template matches says what its parse says`, () => {
    let matches = 0
    fc.assert(
      fc.property(fc.array(chunk(shape), { minLength: 8, maxLength: 24 }), (chunks) => {
        const template = createChunkTemplate(shape)
        for (const text of chunks.map((one) => JSON.stringify(one))) {
          const parsed = parseChunk(text, shape)
          const token = template.tokenOf(text)
          template.learn(text, parsed)
          if (token === undefined) continue
          matches++
          const delta = shape === 'chat' ? { content: token } : { text: token }
          assert.deepEqual(parsed.choices, [
            { index: template.index(), delta, logprobs: null, finish: undefined },
          ])
          assert.deepEqual(
            [parsed.usage, parsed.ergon, parsed.error],
            [undefined, undefined, undefined],
          )
          assert.equal(JSON.stringify(token), `"${token}"`)
        }
      }),
      { numRuns: 1000 },
    )
    assert.ok(matches > 50, `${matches} matches`)
  })

/** The events of a reader for frames that each come in a read of their own. */
function readAll(frames: readonly string[]) {
  const call: GenerationCall = {
    shape: 'chat',
    offer: offerOf(),
    body: {},
    promptBytes: 80,
    promptTokensMax: 1000,
    choices: 2,
    tokensMax: 1000,
  }
  const source = { meter: 'upstream:up', method: 'model', bandPct: 60 } as const
  const limits = { promptBytes: 80, promptTokensMax: 1000, contextTokens: 2000, tokensMax: 1000 }
  const reader = createGenerationReader(call, tokenMeter(call.offer, source, limits), 500)
  const events: GenerationEvent[] = frames.flatMap((frame) => reader.push(Buffer.from(frame)))
  return {
    used: events.findLast(({ kind }) => kind === 'used'),
    answer: events
      .filter(({ kind }) => kind !== 'used')
      .map((event) => ({ ...event, isPlain: undefined })),
  }
}

test('a stream reads the same in one read and in many, with templates and without', () => {
  fc.assert(
    fc.property(fc.array(chunk('chat'), { maxLength: 12 }), (chunks) => {
      const frames = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`)
      const whole = readAll([frames.join('')])
      assert.deepEqual(whole, readAll(frames))
      // A field that differs in each makes every chunk one of another form: nothing matches.
      const odd = chunks.map((one, at) => `data: ${JSON.stringify({ ...one, odd: at })}\n\n`)
      assert.deepEqual(whole, readAll(odd))
    }),
    { numRuns: 500 },
  )
})

test('a template learns nothing where the text stands twice and only one of them is the token', () => {
  const template = createChunkTemplate('chat')
  for (const content of ['tok', 'tok', 'kot']) {
    const text = JSON.stringify({ choices: [{ delta: { content } }], x: { content } })
    assert.equal(template.tokenOf(text), undefined)
    template.learn(text, parseChunk(text, 'chat'))
  }
})
