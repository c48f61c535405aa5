// Objects that are made for every answer are fast to read; see base/fast-objects.fixture.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasFastProperties } from '#base/fast-objects.fixture.ts'
import { offerOf } from '#inference/testing/offers.ts'
import { createChunkTemplate } from './chunk-template.ts'
import { createEmbeddingReader } from './embeddings.ts'
import { createGenerationReader } from './generation-reader.ts'
import { cellMeter } from './meter.ts'
import type { EmbeddingCall, GenerationCall } from '#inference/providers/provider.ts'
import { createWholeReader } from './whole-reader.ts'

const offer = offerOf()
const CALL: GenerationCall = {
  shape: 'chat',
  offer,
  body: {},
  promptBytes: 1,
  promptTokensMax: 1,
  choices: 1,
  tokensMax: 1,
}
const EMBEDDING: EmbeddingCall = { offer, input: ['a'], promptBytes: 1, promptTokensMax: 1 }
const meter = () => cellMeter('small', 100)

const MADE: Readonly<Record<string, () => object>> = {
  'a reader of a stream': () => createGenerationReader(CALL, meter(), 1),
  'a reader of a whole answer': () => createWholeReader(CALL, meter(), () => undefined),
  'a reader of vectors': () => createEmbeddingReader(EMBEDDING, meter(), true),
  'a template of chunks': () => createChunkTemplate('chat'),
  'a meter': meter,
}

for (const [name, make] of Object.entries(MADE))
  test(`${name} is fast to read, and not only the first`, () => {
    assert.deepEqual([make(), make(), make()].map(hasFastProperties), [true, true, true])
  })

test('object literals with a getter are not, which is what this is about', () => {
  const make = (value: number) => ({
    get value() {
      return value
    },
  })
  const last = [1, 2, 3].map(make).at(-1)
  assert.ok(last !== undefined && !hasFastProperties(last))
})
