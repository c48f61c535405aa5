// Rates that a restart gives back: they leave out common errors of different operations, and no request may fail by them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'
import { parseRates } from '#contract/ledger/stored-rates.ts'
import { createIndirectLearner, NO_ACTIVITY } from '#metering/indirect.ts'
import {
  randomOf,
  rateOf,
  REST,
  shareOf,
  TestNode,
  testTariff,
  type SimulatedLoad,
} from './indirect.fixture.ts'
import { IndirectBills } from './indirect.ts'
import { readTariff } from './tariff.ts'

const NAMES = Object.keys(OPERATIONS).slice(0, 12) as OperationName[]
const SESSION = 'gw-1.1'

/** The rates that a restart reads; undefined where they are damaged. */
const kept = (node: TestNode) => parseRates(JSON.parse(JSON.stringify(node.learner.rates())))

test('restarts at any second teach no rate that is no number, and bill no minute more than it causes', () => {
  const restarts = fc.array(fc.integer({ min: 5, max: 60 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 2, max: 12 }),
      restarts,
      (seed, operations, seconds) => {
        const random = randomOf(seed)
        const names = NAMES.slice(0, operations)
        const truth = Object.fromEntries(
          names.map((name) => [name, { directMs: 1 + 10 * random(), indirectMs: 4 * random() }]),
        )
        const load = Object.fromEntries(names.map((name) => [name, 0.01 + 5 * random() ** 2]))
        let node = new TestNode({ truth, ...REST, random })
        node.run(10)
        for (const before of seconds) {
          const few: SimulatedLoad = Object.fromEntries(
            Object.entries(load).filter(() => random() < 0.7),
          )
          node.run(before, few)
          const rates = kept(node)
          assert.ok(rates !== undefined, 'stored rates are numbers')
          node = new TestNode({ truth, ...REST, random, learner: createIndirectLearner(rates) })
        }
        node.run(12, load)
        const share = shareOf(node.run(60, load))
        assert.ok(share <= 101, `${share.toFixed(1)} %`)
        assert.ok(kept(node) !== undefined)
      },
    ),
    { numRuns: 60, seed: 11 },
  )
})

test('two operations that are each known only together with the active second are learned', () => {
  const together = (value: number) => ({
    ...rateOf(value * 1e6, 20e6),
    covariances: { ...rateOf(0).covariances, requestActive: -0.9 * 20e6 * 20e6 },
  })
  const learner = createIndirectLearner({
    levelMilli: 1000,
    activeSecond: { value: 30e6, deviation: 20e6 },
    rest: { value: 28e6, deviation: 2e6 },
    operations: { 'storage.put-object': together(5), 'storage.get-object': together(3) },
  })
  for (let requests = 1; requests <= 60; requests++) {
    learner.observe({
      elapsedNs: 1_000_000_000n,
      cpuNs: 100_000_000n,
      chargedNs: 10_000_000n,
      activity: {
        ...NO_ACTIVITY,
        operations: new Map([
          ['storage.put-object', { requests, ownNs: 4e6 * requests }],
          ['storage.get-object', { requests, ownNs: 1e6 * requests }],
        ]),
        activeSeconds: requests,
      },
    })
    assert.ok(parseRates(JSON.parse(JSON.stringify(learner.rates()))) !== undefined)
  }
  const { activeSecond, operations } = learner.rates()
  const sum = Object.values(operations).reduce((all, { value }) => all + value, activeSecond.value)
  // 100 ms of a second, less 28 of rest and 10 that are billed directly; the own CPU has a rate too.
  assert.ok(sum > 20e6 && sum < 66e6, `${sum / 1e6} ms`)
})

test('no request fails because of a rate: with damaged rates nothing of them is billed', () => {
  const rates = {
    levelMilli: 883,
    activeSecond: { value: 8e6, deviation: 1e6 },
    operations: { 'model.list': rateOf(4e6, 1e6) },
    rest: { value: 28e6, deviation: 1 },
    allowedNs: { [SESSION]: 1e9 },
  }
  const { njPerCpuS, ...tariff } = testTariff()
  const billedBy = (indirect: object): bigint => {
    const body = {
      ...tariff,
      band_pct: tariff.bandPct,
      nj_per_cpu_s: String(njPerCpuS),
      pue_milli: tariff.pueMilli,
      routed_to: tariff.routedTo,
      indirect,
    }
    const read = readTariff(JSON.parse(JSON.stringify(body)))
    const bills = new IndirectBills({ monotonicMs: () => 5000 }, SESSION)
    const work = { ownNs: 1e6, units: 0, takenNs: 0n }
    assert.ok(bills.ceilingNs(read, 'model.list', work) >= 0n)
    bills.grow(read, 'model.list', { count: 3, elapsedMs: 5 }, { ...work, units: 3 })
    return bills.of(read, 'model.list', work).cpuNs
  }
  assert.ok(billedBy(rates) > 0n)
  const put = rateOf(4e6, 1e6)
  const damaged = [
    { ...rates, levelMilli: NaN },
    { ...rates, activeSecond: { value: NaN, deviation: 1 } },
    { ...rates, activeSecond: { value: 1, deviation: -1 } },
    { ...rates, operations: { 'model.list': { ...put, value: NaN } } },
    { ...rates, operations: { 'model.list': { ...put, own: { value: 1, deviation: 1e300 } } } },
    {
      ...rates,
      operations: {
        'model.list': { ...put, covariances: { ...put.covariances, requestOwn: NaN } },
      },
    },
    { ...rates, allowedNs: { [SESSION]: 1.5 } },
  ]
  for (const one of damaged) assert.equal(billedBy(one), 0n, JSON.stringify(one))
})
