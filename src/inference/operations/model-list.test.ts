import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { modelEntry, modelList } from '#contract/inference/inference-replies.ts'
import type { Handler } from '#http/reply.ts'
import { createBreaker } from '#inference/providers/breaker.ts'
import type { Provider } from '#inference/providers/provider.ts'
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
      ['auto', 'ready'],
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
    tools: 'trained',
    energy_j_per_1k_tokens: { p50: 2, p95: 2, samples: 0 },
    routed_to: 'ergon/local/cpu-x64',
    state: 'ready',
  })
})

test('auto is an entry: what any of the models can do', async () => {
  const others = depsOf(
    [
      offerOf({
        id: 'demo',
        tier: 'L1',
        class: 'demo',
        context: 512,
        state: 'loading',
        tools: 'weak',
      }),
      offerOf({
        id: 'embeds',
        modalities: ['embedding'],
        tools: 'none',
        tier: 'L0',
        njPerPromptToken: nj(1n),
        njPerCompletionToken: nj(1n),
      }),
      offerOf({
        id: 'sees',
        tier: 'L2',
        tools: 'none',
        modalities: ['text', 'image'],
        context: 32_768,
        createdS: 1_800_000_000,
        njPerPromptToken: nj(9_000_000n),
        njPerCompletionToken: nj(9_000_000n),
        routedTo: 'lambda/us/h100',
      }),
    ],
    [],
  )
  const auto = {
    id: 'auto',
    object: 'model',
    created: 1_800_000_000,
    owned_by: 'operator',
    tiers: ['L0', 'L1', 'L2'],
    class: 'standard',
    modalities: ['text', 'embedding', 'image'],
    context_length: 32_768,
    tools: 'weak',
    energy_j_per_1k_tokens: { p50: 2, p95: 9, samples: 0 },
    routed_to: 'ergon/local/cpu-x64, lambda/us/h100',
    state: 'ready',
  }
  assert.deepEqual(modelEntry.parse(await bodyOf(createModelGet(others), { model: 'auto' })), auto)
  assert.deepEqual(modelList.parse(await bodyOf(createModelList(others))).data.at(-1), auto)

  const none = depsOf([], [])
  assert.deepEqual(modelList.parse(await bodyOf(createModelList(none))).data, [])
  await assert.rejects(async () => bodyOf(createModelGet(none), { model: 'auto' }), {
    code: 'model_not_found',
  })
})

test('a model that is left alone is unreachable, not ready, while it is', async () => {
  let nowMs = 0
  const policy = { failuresMax: 1, pauseMs: 100, pauseMsMax: 100 }
  const breaker = createBreaker('server', { monotonicMs: () => nowMs }, policy)
  const server = { name: 'server', breaker } as Partial<Provider> as Provider
  const offers = [offerOf({ id: 'far', provider: 'server' })]
  const withServer = depsOf(offers, [server])
  const states = async () => {
    const { data } = modelList.parse(await bodyOf(createModelList(withServer)))
    return data.map(({ id, state }) => `${id} ${state}`)
  }
  assert.deepEqual(await states(), ['far ready', 'auto ready'])
  breaker.enter().failed()
  assert.deepEqual(await states(), ['far unreachable', 'auto unreachable'])
  nowMs = 100
  assert.deepEqual(await states(), ['far ready', 'auto ready'])
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
