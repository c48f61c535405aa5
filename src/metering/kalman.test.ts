import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRegression } from './kalman.ts'

const OPTIONS = {
  deviationFirst: 30,
  walk: { relativeOf: () => 0.1, leastOf: () => 0.3 },
  noise: { relative: 0.06, least: 15 },
  namesMax: 8,
}
const TRUTH: Readonly<Record<string, number>> = { a: 2, b: 0.5, rest: 30 }
const costOf = (counts: ReadonlyMap<string, number>): number =>
  counts.entries().reduce((sum, [name, count]) => sum + (TRUTH[name] ?? 0) * count, 0)

const observation = fc
  .record({ a: fc.nat(800), b: fc.nat(800), noise: fc.double({ min: -1, max: 1, noNaN: true }) })
  .map(({ a, b, noise }) => ({ counts: new Map(Object.entries({ a, b, rest: 5 })), noise }))

test('rates come near the truth from noisy sums, and none is ever negative', () => {
  const observations = fc.array(observation, { minLength: 60, maxLength: 60 })
  fc.assert(
    fc.property(observations, (all) => {
      const regression = createRegression(OPTIONS)
      for (const { counts, noise } of all) {
        regression.learn(counts, costOf(counts) * (1 + 0.05 * noise))
        for (const name of regression.names)
          assert.ok((regression.rate(name)?.value ?? -1) >= 0, name)
      }
      const total = new Map(Object.entries({ a: 400, b: 400, rest: 5 }))
      const learned = total
        .entries()
        .reduce((sum, [name, count]) => sum + (regression.rate(name)?.value ?? 0) * count, 0)
      assert.ok(Math.abs(learned / costOf(total) - 1) < 0.15, `${learned} of ${costOf(total)}`)
    }),
    { numRuns: 50 },
  )
})

// A rate that became 0 alone left the other where it was: the sum was predicted four times too large for half a minute.
test('rates of regressors that come together explain their sum, also when one of them is nothing', () => {
  const together = fc.array(
    fc.record({ a: fc.integer({ min: 80, max: 120 }), b: fc.integer({ min: 160, max: 240 }) }),
    { minLength: 12, maxLength: 12 },
  )
  fc.assert(
    fc.property(together, fc.constantFrom(0, 0.5), (all, b) => {
      const regression = createRegression(OPTIONS)
      const sumOf = (counts: ReadonlyMap<string, number>, rate: (name: string) => number) =>
        counts.entries().reduce((sum, [name, count]) => sum + rate(name) * count, 0)
      for (const [turn, counts] of all.entries()) {
        const seen = new Map(Object.entries({ ...counts, second: 5 }))
        const cost = sumOf(seen, (name) => ({ a: 2, b, second: 50 })[name] ?? 0)
        regression.learn(seen, cost * (turn % 2 === 0 ? 1.05 : 0.95))
        const predicted = sumOf(seen, (name) => regression.rate(name)?.value ?? 0)
        assert.ok(Math.abs(predicted / cost - 1) < 0.3, `${predicted} of ${cost}, turn ${turn}`)
      }
    }),
    { numRuns: 50 },
  )
})

// Kept rates have no limit by what is unexplained: without the covariance the sums of a median run were predicted 19 % off.
test('rates that were kept explain the sum of regressors that come together, one of which costs nothing any more', () => {
  const together = fc.array(
    fc.record({ a: fc.integer({ min: 80, max: 120 }), b: fc.integer({ min: 160, max: 240 }) }),
    { minLength: 10, maxLength: 10 },
  )
  const known = {
    a: { value: 5, deviation: 3 },
    b: { value: 5, deviation: 3 },
    second: { value: 50, deviation: 10 },
  }
  fc.assert(
    fc.property(together, (all) => {
      const regression = createRegression({ ...OPTIONS, known })
      for (const [turn, { a, b }] of all.entries()) {
        const seen = new Map(Object.entries({ a, b, second: 5 }))
        const cost = (2 * a + 250) * (turn % 2 === 0 ? 1.05 : 0.95)
        regression.learn(seen, cost)
        const predicted = seen
          .entries()
          .reduce((sum, [name, count]) => sum + (regression.rate(name)?.value ?? 0) * count, 0)
        assert.ok(Math.abs(predicted / cost - 1) < 0.15, `${predicted} of ${cost}, turn ${turn}`)
      }
    }),
    { numRuns: 50 },
  )
})

test('one observation that is far off moves the rates little', () => {
  const regression = createRegression(OPTIONS)
  const counts = new Map(Object.entries({ a: 100, rest: 5 }))
  for (let turn = 0; turn < 100; turn++) regression.learn(counts, costOf(counts))
  const before = regression.rate('a')?.value ?? 0
  regression.learn(counts, 1000 * costOf(counts))
  const after = regression.rate('a')?.value ?? 0
  assert.ok(after < before * 1.3, `${before} became ${after}`)
})

test('a rate that changes is followed', () => {
  const regression = createRegression(OPTIONS)
  const learn = (perRequest: number, a: number) =>
    regression.learn(new Map(Object.entries({ a, rest: 5 })), perRequest * a + 150)
  for (let turn = 0; turn < 100; turn++) learn(2, turn % 2 === 0 ? 200 : 0)
  for (let turn = 0; turn < 100; turn++) learn(6, turn % 2 === 0 ? 200 : 0)
  assert.ok(Math.abs((regression.rate('a')?.value ?? 0) - 6) < 0.5)
})

test('a rate of nothing rises', () => {
  const regression = createRegression(OPTIONS)
  const learn = (perRequest: number, turn: number) => {
    const a = turn % 2 === 0 ? 100 : 20
    const b = turn % 3 === 0 ? 100 : 20
    const counts = new Map(Object.entries({ a, b, rest: 5 }))
    regression.learn(counts, perRequest * a + 3 * b + 150)
  }
  for (let turn = 0; turn < 200; turn++) learn(0, turn)
  for (let turn = 0; turn < 60; turn++) learn(5, turn)
  const { value = 0 } = regression.rate('a') ?? {}
  assert.ok(Math.abs(value - 5) < 0.5, `${value}`)
})

test('regressors have a limit, and begin with what was known', () => {
  const regression = createRegression({ ...OPTIONS, known: { a: { value: 4, deviation: 1 } } })
  assert.deepEqual(regression.rate('a'), { value: 4, deviation: 1 })
  for (let name = 0; name < 20; name++) regression.learn(new Map([[`n${name}`, 1]]), 10)
  assert.equal([...regression.names].length, 8)
  assert.equal(regression.rate('n19'), undefined)
})
