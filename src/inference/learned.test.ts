import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import { boundsOf, tokensAtMost, type WorkSize } from './admission.ts'
import { createLearned } from './learned.ts'
import { catalogueEnergy } from './providers/openai/meter.ts'
import { createQuantiles } from './quantiles.ts'
import { offerOf } from './testing/offers.ts'

test('quantiles are those of the samples to within half a bucket', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1e-3, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 60 }),
      fc.constantFrom(0.05, 0.5, 0.95, 1),
      (values, q) => {
        // A half-life far beyond the samples: nothing fades.
        const quantiles = createQuantiles(1e9)
        for (const value of values) quantiles.record(value)
        const sorted = values.toSorted((a, b) => a - b)
        // Between two ranks either neighbour is a quantile.
        const low = sorted[Math.max(0, Math.ceil(q * values.length - 1e-6) - 1)] ?? 0
        const high = sorted[Math.min(values.length - 1, Math.floor(q * values.length + 1e-6))] ?? 0
        const found = quantiles.at(q) ?? 0
        assert.ok(found > low * 0.97 && found < high * 1.03, `${found} for ${low} to ${high}`)
      },
    ),
  )
})

test('quantiles forget: after many new samples the old ones do not count', () => {
  const quantiles = createQuantiles(10)
  for (let i = 0; i < 1_000; i++) quantiles.record(100)
  for (let i = 0; i < 100; i++) quantiles.record(1)
  assert.equal(quantiles.samples, 1_100)
  assert.ok((quantiles.at(0.95) ?? 0) < 1.03)
})

test('a value that came once long ago ends no later sample', () => {
  // The weights are divided each 40 half-lives: after 27 times the weight of the first value is 0 as a double.
  const quantiles = createQuantiles(10)
  quantiles.record(100)
  for (let sample = 0; sample < 40 * 10 * 30; sample++) quantiles.record(1)
  assert.equal(quantiles.save().weights.length, 1)
  assert.ok((quantiles.at(1) ?? 0) < 1.03)
  const faded = { samples: 2, weights: [[1, 1] as const, [100, 0] as const] }
  assert.ok((createQuantiles(10, faded).at(1) ?? 0) < 1.03)
})

test('quantiles that were saved go on where they were', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 }),
      fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { maxLength: 50 }),
      (before, after) => {
        const whole = createQuantiles(20)
        for (const value of before) whole.record(value)
        const next = createQuantiles(20, JSON.parse(JSON.stringify(whole.save())))
        for (const value of after) for (const each of [whole, next]) each.record(value)
        assert.equal(next.samples, whole.samples)
        for (const q of [0.05, 0.5, 0.95]) {
          const [a = 0, b = 0] = [whole.at(q), next.at(q)]
          assert.ok(a === 0 ? b === 0 : Math.abs(b / a - 1) < 0.06, `${a} and ${b}`)
        }
      },
    ),
  )
})

test('quantiles refuse what has no logarithm', () => {
  for (const value of [0, -1, NaN, Infinity])
    assert.throws(() => createQuantiles().record(value), RangeError)
  assert.equal(createQuantiles().at(0.5), undefined)
})

const tokens = { prompt: 100, completion: 50 }
const offer = offerOf()
const catalogue = catalogueEnergy(offer, 100, 50)

test('learned costs are the catalogue until enough charges came', () => {
  const learned = createLearned()
  assert.deepEqual(learned.perThousandTokens(offer), {
    p50: 2_000_000_000n,
    p95: 2_000_000_000n,
    samples: 0,
  })
  for (let i = 0; i < 7; i++) learned.record(offer, tokens, nj(catalogue * 3n))
  assert.equal(learned.estimate(offer, tokens, 0.5), catalogue)
  assert.equal(learned.perThousandTokens(offer).samples, 7)
  learned.record(offer, tokens, nj(catalogue * 3n))
  const ratio = Number(learned.estimate(offer, tokens, 0.5)) / Number(catalogue)
  assert.ok(ratio > 2.9 && ratio < 3.1, String(ratio))
})

test('learned costs go on in the next life, each model once for each change', () => {
  const learned = createLearned()
  for (let i = 0; i < 8; i++) learned.record(offer, tokens, nj(catalogue * 3n))
  const saved = learned.changes()
  assert.deepEqual(
    saved.map(({ model }) => model),
    [offer.id],
  )
  assert.deepEqual(learned.changes(), [])
  const next = createLearned(JSON.parse(JSON.stringify(saved)))
  assert.equal(next.isKnown(offer), true)
  assert.equal(next.estimate(offer, tokens, 0.5), learned.estimate(offer, tokens, 0.5))
  assert.deepEqual(next.perThousandTokens(offer), learned.perThousandTokens(offer))
  assert.deepEqual(next.changes(), [])
})

test('learned costs are of a model as it was declared, not of its name', () => {
  const learned = createLearned()
  for (let i = 0; i < 8; i++) learned.record(offer, tokens, nj(catalogue * 3n))
  const other = { ...offer, njPerCompletionToken: nj(offer.njPerCompletionToken * 2n) }
  assert.equal(learned.isKnown(other), false)
  assert.equal(createLearned(learned.changes()).isKnown(other), false)
  learned.record(other, tokens, catalogue)
  assert.equal(learned.isKnown(offer), false, 'the newer declaration has taken its place')
})

test('learned costs ignore a charge without tokens or energy', () => {
  const learned = createLearned()
  learned.record(offer, { prompt: 0, completion: 0 }, nj(5n))
  learned.record(offer, tokens, nj(0n))
  assert.equal(learned.perThousandTokens(offer).samples, 0)
})

const work: WorkSize = { promptBytes: 100, promptTexts: 1, prompts: 1, choices: 1 }

test('tokensAtMost() bounds prompt and answers by what can be', () => {
  assert.deepEqual(tokensAtMost(offer, { ...work, maxTokens: 10 }, 0), {
    promptTokensMax: 116,
    tokensMax: 10,
  })
  assert.deepEqual(tokensAtMost(offer, { ...work, promptBytes: 1e6, choices: 2 }, 0), {
    promptTokensMax: 2048,
    tokensMax: 2 * 2048,
  })
  assert.deepEqual(tokensAtMost({ ...offer, defaultMaxTokens: 64 }, { ...work, prompts: 3 }, 7), {
    promptTokensMax: 116 + 3 * 7,
    tokensMax: 3 * 64,
  })
  // Each image or sound, and a format that the server may put into the prompt.
  const wide = { ...offer, context: 100_000 }
  const media = tokensAtMost(wide, { ...work, media: 2, formatBytes: 50, maxTokens: 1 }, 0)
  assert.deepEqual(media, { promptTokensMax: 116 + 2 * 4096 + 50, tokensMax: 1 })
  const embedding = offerOf({ modalities: ['embedding'], context: 512 })
  assert.deepEqual(
    tokensAtMost(embedding, { promptBytes: 1e6, promptTexts: 4, prompts: 4, choices: 1 }, 0),
    { promptTokensMax: 2048, tokensMax: 0 },
  )
})

test('boundsOf() admits with ceilings above whatever the charges of the model were', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 300, max: 5_000 }), { maxLength: 40 }),
      (milliRatios) => {
        const learned = createLearned()
        const charges = milliRatios.map((milli) => nj((catalogue * BigInt(milli)) / 1000n))
        for (const charge of charges) learned.record(offer, tokens, charge)
        const asked = { ...work, promptBytes: 84, maxTokens: 50 }
        const { ceilingNj, leastNj } = boundsOf(offer, asked, learned)
        for (const charge of charges) assert.ok(charge <= ceilingNj, `${charge} over ${ceilingNj}`)
        assert.ok(leastNj > 0n && leastNj <= ceilingNj)
      },
    ),
  )
})

const costly = offerOf({
  njPerPromptToken: nj(100_000_000n),
  njPerCompletionToken: nj(200_000_000n),
})

test('boundsOf() admits with what an upstream may bill, however cheap its answers were', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 8, maxLength: 40 }),
      fc.integer({ min: 1, max: 100_000 }),
      (milliRatios, promptBytes) => {
        const learned = createLearned()
        for (const milli of milliRatios)
          learned.record(costly, tokens, nj((catalogue * BigInt(milli)) / 10n))
        const { promptTokensMax, tokensMax, ceilingNj } = boundsOf(
          costly,
          { ...work, promptBytes, maxTokens: 5 },
          learned,
        )
        assert.ok(ceilingNj > catalogueEnergy(costly, promptTokensMax, tokensMax))
      },
    ),
  )
})

/** The accepted part of the prompt tokens that a server declares for "hi", answer by answer. */
function believed(learned: ReturnType<typeof createLearned>, of: typeof offer, declared: number[]) {
  const hi = { ...work, promptBytes: 2, maxTokens: 5 }
  return declared.map((prompt) => {
    const { promptTokensMax, overheadTokens } = boundsOf(of, hi, learned)
    if (prompt > promptTokensMax)
      learned.needsOverhead(of, overheadTokens + prompt - promptTokensMax)
    return Math.min(prompt, promptTokensMax)
  })
}
const times = (count: number, tokensOf: number) => Array.from({ length: count }, () => tokensOf)

test('tokens that a server adds to a prompt are believed after a few answers', () => {
  assert.deepEqual(believed(createLearned(), offer, times(3, 72)), [72, 72, 72])
  assert.deepEqual(believed(createLearned(), offer, times(6, 400)), [82, 146, 274, 400, 400, 400])
})

test('tokens that a server adds to a prompt are never believed beyond the double, nor a limit', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2048 }), { maxLength: 40 }), (declared) => {
      const learned = createLearned()
      let before = learned.overheadTokens(offer)
      assert.equal(before, 64)
      for (const prompt of declared) {
        believed(learned, offer, [prompt])
        const now = learned.overheadTokens(offer)
        assert.ok(now >= before && now <= before * 2 && now <= 1024)
        assert.ok(now === before || now <= prompt)
        before = now
      }
    }),
  )
})

test('tokens that the operator declares of a server are believed from the first, and nothing else', () => {
  const learned = createLearned()
  for (const promptOverheadTokens of [1500, 100, 0]) {
    const declared = { ...offer, promptOverheadTokens }
    const most = 18 + promptOverheadTokens
    assert.deepEqual(believed(learned, declared, [most, 1900, 1900]), [most, most, most])
  }
  assert.equal(learned.overheadTokens(offer), 64)
})

test('tokens that a cell of ours counts are believed as they are, up to its context', () => {
  const learned = createLearned()
  const cell = { ...offer, isCell: true }
  assert.deepEqual(believed(learned, cell, [1500, 1500]), [82, 1500])
  learned.needsOverhead(cell, 9999)
  assert.equal(learned.overheadTokens(cell), cell.context)
})

test('tokens that a server adds are known in the next life', () => {
  const learned = createLearned()
  believed(learned, offer, times(4, 400))
  assert.equal(learned.overheadTokens(offer), 382)
  const saved: ReturnType<typeof learned.changes> = JSON.parse(JSON.stringify(learned.changes()))
  assert.equal(createLearned(saved).overheadTokens(offer), 382)
  // The saved costs of an older version have no such field.
  const older = saved.map(({ model, declared, ratio, njPerToken }) => ({
    model,
    declared,
    ratio,
    njPerToken,
  }))
  assert.equal(createLearned(older).overheadTokens(offer), 64)
})
