import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import { createLearned } from '#inference/learned.ts'
import { offerOf } from '#inference/testing/offers.ts'
import { choose } from './choose.ts'
import type { RequestFacts } from './rules.ts'

const facts = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  asks: 'text',
  inputs: [],
  tools: false,
  structured: false,
  promptBytes: 100,
  tier: 'L1',
  because: 'extraction words',
  ...more,
})
const ask = (
  offers: readonly ModelOffer[],
  more: { model?: string; facts?: Partial<RequestFacts>; rests?: readonly string[] } = {},
  learned = createLearned(),
) =>
  choose(
    offers,
    {
      model: more.model ?? 'auto',
      facts: facts(more.facts),
      tokens: { prompt: 100, completion: 100 },
      prompts: 1,
    },
    learned,
    ({ id }) => more.rests?.includes(id) ?? false,
  )
const ids = (choice: { offers: readonly ModelOffer[] }) => choice.offers.map(({ id }) => id)

const demo = offerOf({ id: 'demo', tier: 'L0', class: 'demo', tools: 'weak', structured: false })
const cheap = offerOf({ id: 'cheap', tier: 'L1', njPerCompletionToken: nj(1_000_000n) })
const dear = offerOf({ id: 'dear', tier: 'L3', njPerCompletionToken: nj(9_000_000n) })

test('choose() takes the cheapest that is trusted with the tier, the others behind it', () => {
  const choice = ask([dear, demo, cheap])
  assert.deepEqual(ids(choice), ['cheap', 'dear'])
  assert.equal(
    choice.reason,
    'L1: extraction words; cheap is cheapest of 2 capable models at 1 J/1k tokens (catalogue)',
  )
  assert.deepEqual(ids(ask([dear, demo, cheap], { facts: { tier: 'L2' } })), ['dear'])
})

test('choose() counts what a server adds to each prompt', () => {
  const learned = createLearned()
  const plain = offerOf({ id: 'plain', njPerPromptToken: nj(1_500_000n) })
  const wordy = offerOf({ id: 'wordy', isCell: true })
  assert.deepEqual(ids(ask([plain, wordy], {}, learned)), ['wordy', 'plain'])
  learned.needsOverhead(wordy, 1000)
  assert.deepEqual(ids(ask([plain, wordy], {}, learned)), ['plain', 'wordy'])
})

test('choose() leaves out who is left alone, and counts them not, while another is there', () => {
  const one = ask([dear, demo, cheap], { rests: ['cheap'] })
  assert.deepEqual(ids(one), ['dear'])
  assert.match(one.reason, /^L1: extraction words; dear is the only capable model at /)
  const none = ask([dear, demo, cheap], { rests: ['cheap', 'dear'] })
  assert.deepEqual(ids(none), ['demo'])
  assert.match(none.reason, /no better model is ready than demo \(demo model\), meant for L0$/)
  const all = ask([dear, cheap], { rests: ['cheap', 'dear'] })
  assert.deepEqual(ids(all), ['cheap', 'dear'])
  assert.deepEqual(ids(ask([dear, cheap], { model: 'cheap', rests: ['cheap'] })), ['cheap'])
})

test('choose() learns from charges what is cheapest', () => {
  const learned = createLearned()
  for (let i = 0; i < 20; i++)
    learned.record(cheap, { prompt: 100, completion: 100 }, nj(20_000_000_000n))
  const choice = ask([cheap, dear], {}, learned)
  assert.deepEqual(ids(choice), ['dear', 'cheap'])
  assert.match(ask([cheap], {}, learned).reason, /at 9\d\.\d+ J\/1k tokens \(measured\)|at 10\d/)
})

test('choose() serves a harder request with a demo model for want of better, and says so', () => {
  const choice = ask([demo], { facts: { tier: 'L3', because: 'code' } })
  assert.equal(choice.tier, 'L3')
  assert.equal(
    choice.reason,
    'L3: code; no better model is ready than demo (demo model), meant for L0',
  )
  assert.deepEqual(ids(ask([demo, cheap], { facts: { tier: 'L3' } })), ['cheap', 'demo'])
})

test('choose() gives a named model and nothing else', () => {
  const choice = ask([cheap, demo, dear], { model: 'demo', facts: { tier: 'L3' } })
  assert.deepEqual(ids(choice), ['demo'])
  assert.equal(choice.reason, 'L3; model named by the caller')
})

test('choose() says what keeps a named model from a request', () => {
  const cases: [Partial<RequestFacts>, string, string][] = [
    [{ structured: true }, 'unsupported_parameter', 'response_format'],
    [{ inputs: ['image'] }, 'unsupported_parameter', 'messages'],
    [{ asks: 'embedding' }, 'invalid_request', 'model'],
    [{ promptBytes: 1 << 20 }, 'context_length_exceeded', 'messages'],
  ]
  for (const [more, code, param] of cases)
    assert.throws(() => ask([demo], { model: 'demo', facts: more }), { code, param })
  assert.deepEqual(ids(ask([demo], { model: 'demo', facts: { tools: true } })), ['demo'])
})

test('choose() tells unknown, loading and failed models apart', () => {
  assert.throws(() => ask([cheap], { model: 'gpt-9' }), {
    code: 'model_not_found',
    status: 404,
    message:
      'Could not find the model gpt-9: there are auto, cheap. Name one of them; `auto` chooses a model for each request. The operator can serve this name too: `ergon models alias add gpt-9 <model>`',
  })
  // The command is for copying, and the name is the caller's.
  assert.throws(() => ask([cheap], { model: '$(reboot)' }), {
    message: /`ergon models alias add <name> <model>`$/,
  })
  const loading = { ...cheap, state: 'loading', retryAfterS: 7 } as const
  const failed = { ...dear, state: 'failed', reason: 'file missing' } as const
  for (const model of ['cheap', 'auto'])
    assert.throws(() => ask([loading, failed], { model }), {
      code: 'model_loading',
      status: 503,
      retryAfterS: 7,
    })
  for (const model of ['dear', 'auto'])
    assert.throws(
      () => ask([failed], { model }),
      (error: Error) => {
        assert.equal((error as { code?: string }).code, 'model_not_available')
        assert.match(error.message, /file missing/)
        return true
      },
    )
  assert.throws(() => ask([]), {
    code: 'model_not_available',
    message: 'Could not serve text: there is none',
  })
})

test('choose() serves with what is ready while a better model loads', () => {
  assert.deepEqual(ids(ask([{ ...dear, state: 'loading' }, demo], { facts: { tier: 'L3' } })), [
    'demo',
  ])
})

test("choose() refuses as the caller's fault what no model can do, by name as by auto", () => {
  const none = { ...cheap, tools: 'none' } as const
  for (const model of ['cheap', 'auto'])
    assert.throws(() => ask([none], { model, facts: { tools: true } }), {
      code: 'unsupported_parameter',
      status: 400,
      param: 'tools',
    })
  const failed = { ...dear, state: 'failed' } as const
  assert.throws(() => ask([none, failed], { facts: { tools: true } }), {
    code: 'model_not_available',
    status: 503,
  })
})

test('choose() gives tools to models that were trained for them, then to the others', () => {
  const trained = { ...dear, tools: 'trained' } as const
  const weak = { ...cheap, tools: 'weak' } as const
  assert.deepEqual(ids(ask([weak, trained], { facts: { tools: true } })), ['dear', 'cheap'])
  assert.deepEqual(ids(ask([weak, trained])), ['cheap', 'dear'])
  assert.deepEqual(ids(ask([weak], { facts: { tools: true } })), ['cheap'])
})

const narrow = offerOf({ id: 'e-384', modalities: ['embedding'], embeddingDimensions: 384 })
const wide = offerOf({ id: 'e-1536', modalities: ['embedding'], embeddingDimensions: 1536 })

test('choose() gives embeddings one model, never another one of other vectors', () => {
  const embedding = { asks: 'embedding', tier: 'L0' } as const
  assert.deepEqual(ids(ask([wide, narrow], { facts: embedding })), ['e-1536'])
  assert.deepEqual(ids(ask([wide, narrow], { facts: { ...embedding, dimensions: 384 } })), [
    'e-384',
  ])
  assert.throws(() => ask([{ ...wide, state: 'loading' }, narrow], { facts: embedding }), {
    code: 'model_loading',
  })
  assert.throws(() => ask([{ ...wide, state: 'failed' }, narrow], { facts: embedding }), {
    code: 'model_not_available',
  })
  assert.throws(() => ask([wide, narrow], { facts: { ...embedding, dimensions: 512 } }), {
    code: 'unsupported_parameter',
    status: 400,
    param: 'dimensions',
  })
  assert.throws(() => ask([wide], { model: 'e-1536', facts: { ...embedding, dimensions: 384 } }), {
    status: 400,
    param: 'dimensions',
  })
})
