import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsOf } from '#base/steps.ts'
import { parseChatRequest } from '#contract/inference/inference.ts'
import { createChatCreate } from './operations/chat-create.ts'
import type { GenerationEvent, Provider } from './providers/provider.ts'
import { callOf, depsOf, offerOf } from './testing/offers.ts'

const used = (cpuNs: bigint): GenerationEvent => ({
  kind: 'used',
  used: { kind: 'cpu', cell: 'small', cpuNs },
  promptTokens: 5,
  completionTokens: 1,
})

test('a caller who leaves while nobody reads the answer ends its call, and pays what that says', async () => {
  let isOver = false
  async function* generated(): AsyncGenerator<GenerationEvent[]> {
    try {
      yield [used(1n), { kind: 'delta', index: 0, delta: { content: 'a' }, logprobs: null }]
      yield [used(2n)]
    } finally {
      isOver = true
    }
  }
  const provider: Provider = {
    name: 'cell-small',
    givesWhole: false,
    generate: () => stepsOf(generated()),
    embed: () => assert.fail('no embedding is asked for'),
    close: async () => {},
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const call = callOf(parseChatRequest({ model: 'small', messages, stream: true }))
  await createChatCreate(depsOf([offerOf()], [provider]))(call)
  assert.equal(isOver, false)
  call.leave()
  await new Promise(setImmediate)
  assert.equal(isOver, true, 'generate() closes the call of a caller who has left (closeOnAbort)')
  assert.deepEqual(call.spend.claims.at(-1), { kind: 'cpu', cell: 'small', cpuNs: 2n })
})
