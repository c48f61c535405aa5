// Upstreams without a meter: their answers, and their claims.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DONE,
  frame,
  plainChunk,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { energies, read, textOf, withUpstreams } from './openai-provider.fixture.ts'
import type { Provider } from '#inference/providers/provider.ts'

let server: ScriptedUpstream
let remote: Provider
withUpstreams((opened) => ({ server, remote } = opened))

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

test('energy that an upstream declares is final, also when it is less than was counted', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1 }
  server.script = streaming(plainChunk('a') + plainChunk('b'), plainChunk(null, 'stop'))
  // 10 prompt tokens are counted of 80 bytes: 10 × 1 mJ and 2 mJ for each token seen.
  assert.equal(energies(await read(remote)).at(-1), 14_000_000n)
  server.script = streaming(
    plainChunk('a') + plainChunk('b'),
    plainChunk(null, 'stop') + frame({ choices: [], usage }) + DONE,
  )
  const events = await read(remote)
  assert.equal(energies(events).at(-1), 3_000_000n)
  assert.deepEqual(events.at(-1), {
    kind: 'end',
    usage: { promptTokens: 1, completionTokens: 1 },
  })
})

test('an upstream that declares no tokens is billed those that were counted', async () => {
  for (const [usage, energyNj] of [
    [{ prompt_tokens: 3, completion_tokens: 0 }, 12_000_000n],
    [{ completion_tokens: 2 }, 14_000_000n],
  ] as const) {
    server.script = streaming(plainChunk('a', 'stop') + frame({ choices: [], usage }) + DONE)
    assert.equal(energies(await read(remote)).at(-1), energyNj)
  }
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

test('text after the last finish is neither given nor billed', async () => {
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
