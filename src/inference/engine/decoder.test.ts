import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LlamaGrammar, Token } from 'node-llama-cpp'
import { createDecoder } from './decoder.ts'
import type { Generation } from './generation.ts'
import type { Loaded } from './load-model.ts'
import type { ModelConfig } from './model-config.ts'
import { processClocks } from './step-clock.ts'
import { STUCK_TOKEN_CPU_MS } from './step-watch.ts'

const MS = 1_000_000n
const config: ModelConfig = {
  id: 'random',
  file: '',
  kind: 'chat',
  contextSize: 64,
  sequences: 1,
  threads: 1,
}
const meter = { usedInputTokens: 0, usedOutputTokens: 0 }

/** Up to the first token. */
type Evaluate = (options: { grammarEvaluationState: () => unknown }) => Promise<never>

/** No real engine fails at choosing a token when a test wants one to. */
function engineOf(evaluate: Evaluate): Loaded {
  const sequence = {
    clearHistory: async () => undefined,
    nextTokenIndex: 1,
    tokenMeter: { getState: () => meter, diff: () => meter },
    evaluateWithMetadata: (_prompt: unknown, _what: unknown, options: never) => ({
      next: () => evaluate(options),
      return: async () => undefined,
    }),
  }
  const model = {
    _llama: { _bindings: { AddonGrammarEvaluationState: class {} } },
    createContext: async () => ({ getSequence: () => sequence }),
  }
  return { llama: { gpu: false }, model, config } as unknown as Loaded
}

test('an engine that fails while it chooses a token leaves no sampling behind that counts on', async (t) => {
  t.mock.method(globalThis, 'setInterval', () => ({ unref: () => undefined }) as never)
  const now = { ns: 0n }
  t.mock.method(processClocks, 'processNs', () => now.ns)
  t.mock.method(processClocks, 'wallNs', () => now.ns)
  const loaded = engineOf(async (options) => {
    options.grammarEvaluationState()
    now.ns += 3n * MS
    throw new Error('Failed to sample next token')
  })
  const { clock, watch, generate } = await createDecoder(loaded, config)
  const account = clock.open()
  const generation: Generation = {
    prompt: [1 as Token],
    sampling: {
      temperature: 0,
      topP: 1,
      seed: 0,
      presencePenalty: 0,
      frequencyPenalty: 0,
      bias: new Map(),
    },
    grammar: {
      grammar: { _llama: Reflect.get(loaded.model, '_llama') } as unknown as LlamaGrammar,
      param: 'response_format',
    },
    account,
    payer: '',
    signal: new AbortController().signal,
  }
  await assert.rejects(generate(generation).next(), /Failed to sample next token/)
  assert.equal(account.cpuNs, 3n * MS, 'who asked pays for the token that failed')
  // Somebody else's work.
  void watch.during(new Promise(() => {}))
  now.ns += BigInt(STUCK_TOKEN_CPU_MS + 1) * MS
  watch.look()
  assert.equal(watch.stuck.aborted, false)
  clock.settle()
  assert.equal(account.cpuNs, 3n * MS)
})
