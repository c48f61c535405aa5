import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { modelEntry, modelList } from '#contract/inference-replies.ts'
import type { Handler } from '#http/reply.ts'
import { callOf, depsOf, offerOf } from '#inference/testing/offers.ts'
import { createStrictSpend } from '#inference/testing/strict-spend.ts'
import { createModelGet } from './model-get.ts'
import { createModelList } from './model-list.ts'

const bodyOf = async (handler: Handler, parameters: Record<string, string> = {}) => {
  const reply = await handler({ ...callOf(undefined), parameters })
  assert.ok(reply.kind === 'known')
  const spend = createStrictSpend()
  return JSON.parse(String(reply.body(spend.settle(200)))) as unknown
}
const deps = depsOf(
  [
    offerOf({ id: 'demo', tier: 'L1', class: 'demo' }),
    offerOf({ id: 'later', state: 'loading' }),
    offerOf({ id: 'broken', state: 'failed', reason: 'file missing' }),
  ],
  [],
)

test('the model list has what answers or is about to, with what the router goes by', async () => {
  const list = modelList.parse(await bodyOf(createModelList(deps)))
  assert.deepEqual(
    list.data.map(({ id, state }) => [id, state]),
    [
      ['demo', 'ready'],
      ['later', 'loading'],
    ],
  )
  assert.deepEqual(list.data[0], {
    id: 'demo',
    object: 'model',
    created: 1_700_000_000,
    owned_by: 'ergon',
    tiers: ['L0', 'L1'],
    class: 'demo',
    modalities: ['text'],
    context_length: 2048,
    energy_j_per_1k_tokens: { p50: 2, p95: 2, samples: 0 },
    routed_to: 'ergon/local/cpu-x64',
    state: 'ready',
  })
})

test('a model shows what its charges taught', async () => {
  const [demo] = deps.catalogue.models()
  assert.ok(demo)
  deps.learned.record(demo, { prompt: 500, completion: 500 }, nj(7_000_000_000n))
  const entry = modelEntry.parse(await bodyOf(createModelGet(deps), { model: 'demo' }))
  assert.equal(entry.energy_j_per_1k_tokens.samples, 1)
  assert.ok(Math.abs(entry.energy_j_per_1k_tokens.p50 - 7) < 0.2)
})

test('a failed model can be looked at, an unknown one is a 404', async () => {
  const entry = modelEntry.parse(await bodyOf(createModelGet(deps), { model: 'broken' }))
  assert.equal(entry.state, 'failed')
  await assert.rejects(async () => bodyOf(createModelGet(deps), { model: 'nope' }), {
    code: 'model_not_found',
    status: 404,
  })
})
