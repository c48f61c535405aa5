import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fittingContext, type FileFacts } from './fit.ts'
import type { ModelConfig } from './model-config.ts'

const bert: FileFacts = {
  architecture: 'bert',
  pooling: 'vector',
  isEncoder: true,
  dimensions: 384,
  contextMax: 512,
}
const llama: FileFacts = {
  architecture: 'llama',
  pooling: 'none',
  isEncoder: false,
  dimensions: 2048,
  contextMax: 8192,
}
const config: ModelConfig = {
  id: 'm',
  file: '/m.gguf',
  kind: 'chat',
  contextSize: 512,
  sequences: 1,
  threads: 1,
}
const embedding: ModelConfig = { ...config, kind: 'embedding' }

test('a file is served as what it is, or refused with what to say instead', () => {
  const refused: [FileFacts, ModelConfig, RegExp][] = [
    [bert, config, /it is an embedding model \(bert\): add it with --embedding$/],
    // A decoder that was trained to embed.
    [{ ...llama, pooling: 'vector' }, config, /add it with --embedding$/],
    [{ ...bert, pooling: 'none' }, config, /add it with --embedding$/],
    [llama, embedding, /it generates text \(llama\)/],
    [{ ...bert, pooling: 'rank' }, embedding, /it is a reranker \(bert\)/],
    [bert, { ...embedding, dimensions: 999 }, /its vectors have 384 numbers, not 999$/],
    [bert, { ...embedding, contextSize: 513, isContextAsked: true }, /--context 512 is the most$/],
    [llama, { ...config, contextSize: 8193, isContextAsked: true }, /trained for 8192 tokens/],
  ]
  for (const [facts, asked, message] of refused)
    assert.throws(() => fittingContext(facts, asked), { code: 'invalid_request', message })
})

test('the context is what was asked for, and a default at most what it was trained for', () => {
  assert.equal(fittingContext(bert, { ...embedding, dimensions: 384 }), 512)
  assert.equal(fittingContext({ ...llama, pooling: 'vector' }, embedding), 512)
  const asked = { ...config, isContextAsked: true }
  assert.equal(fittingContext(llama, { ...asked, contextSize: 8192 }), 8192)
  const byDefault = { ...config, contextSize: 4096 }
  assert.equal(fittingContext(llama, byDefault), 4096)
  assert.equal(fittingContext({ ...llama, contextMax: 2048 }, byDefault), 2048)
  const { contextMax: _, ...silent } = llama
  assert.equal(fittingContext(silent, { ...asked, contextSize: 9999 }), 9999)
})
