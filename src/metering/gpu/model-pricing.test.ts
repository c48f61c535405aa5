import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import type { CellUse } from '#metering/window.ts'
import { NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import { splitReading } from '#metering/window.ts'
import { runLoads, type GpuLoad, type GpuRunOptions } from './gpu-loads.fixture.ts'
import { createModelPricing, MODELS_MAX } from './model-pricing.ts'

const S = 1_000_000_000n
const SEEDS = Array.from({ length: 12 }, (_, seed) => seed + 1)
/** Three models whose seconds of steps take 60, 150 and 400 J. They come one after the other, and then stay. */
const BESIDE: readonly GpuLoad[] = [
  { model: 'a', fromS: 0, toS: 90, stepMs: 300, joulesPerS: 60 },
  { model: 'b', fromS: 15, toS: 90, stepMs: 200, joulesPerS: 150 },
  { model: 'c', fromS: 30, toS: 90, stepMs: 200, joulesPerS: 400 },
]

/** Bill ÷ cause of each load of each seed. */
async function sharesOf(options: Omit<GpuRunOptions, 'seed'>): Promise<number[][]> {
  const runs = await Promise.all(SEEDS.map((seed) => runLoads({ ...options, seed })))
  for (const { doesAddUp, readingNj, billedNj, operatorNj } of runs) {
    assert.ok(doesAddUp)
    assert.equal(billedNj + operatorNj, readingNj)
  }
  return runs.map(({ loads }) => loads.map((one) => Number(one.billedNj) / Number(one.causedNj)))
}

test('models of other costs beside each other are billed 90 to 105 % of their cause each', async () => {
  for (const shares of await sharesOf({ loads: BESIDE, learnS: 20 }))
    for (const [nth, share] of shares.entries())
      assert.ok(share >= 0.9 && share <= 1.05, `${share} of load ${nth}: ${shares.join(' ')}`)
})

test('one tariff for the card would bill the cheapest of them more than twice its cause', async () => {
  for (const [a = 0, , c = 0] of await sharesOf({ loads: BESIDE, learnS: 20, isOneTariff: true }))
    assert.ok(a > 2 && c < 0.65, `${a} and ${c}`)
})

/** A small and a large model as an H200 had them; the small one takes a twentieth of the power. */
const SMALL = { model: 'small', stepMs: 250, joulesPerS: 27 }
const LARGE = { model: 'large', stepMs: 430, joulesPerS: 330 }

test('a model that takes a twentieth of the power beside another is billed 80 to 110 %, once it ran alone', async () => {
  const loads = [
    { ...SMALL, fromS: 0, toS: 100 },
    { ...LARGE, fromS: 10, toS: 100 },
  ]
  for (const [small = 0, large = 0] of await sharesOf({ loads, learnS: 20 })) {
    assert.ok(small > 0.8 && small < 1.1, `${small} of the small one`)
    assert.ok(large > 0.95 && large < 1.01, `${large} of the large one`)
  }
})

test('models in turns keep tariffs of their own: no load pays for the one before', async () => {
  const loads = [0, 40, 80].flatMap((fromS) => [
    { ...SMALL, fromS, toS: fromS + 20 },
    { ...LARGE, fromS: fromS + 20, toS: fromS + 40 },
  ])
  for (const shares of await sharesOf({ loads, learnS: 2 }))
    for (const [nth, share] of shares.entries())
      assert.ok(share > 0.85 && share < 1.1, `${share} of load ${nth}`)
})

test('a model whose steps become three times as cheap is billed 90 to 110 % in the next 20 s', async () => {
  const loads = [
    { ...SMALL, fromS: 0, toS: 40 },
    { model: 'small', fromS: 40, toS: 60, stepMs: 630, joulesPerS: 10 },
  ]
  for (const [, cheap = 0] of await sharesOf({ loads, learnS: 0 }))
    assert.ok(cheap > 0.9 && cheap < 1.1, String(cheap))
})

const DEPS = {
  modelNjPerCpuS: 15n * S,
  modelBandPct: 100,
  range: [0n, 700n * S] as const,
}

/** A pricing whose bills and seconds come from the test. */
function rig() {
  const bills = new Map<string, Billed>()
  const pricing = createModelPricing({ ...DEPS, billedByCell: () => new Map(bills) })
  const second = (joules: bigint, used: Readonly<Record<string, bigint>>, restNs = 0n) => {
    const cells: CellUse[] = Object.entries(used).map(([name, cpuNs]) => ({
      name,
      payer: { kind: 'caller' },
      cpuNs,
    }))
    const busyNs = cells.reduce((all, { cpuNs }) => all + cpuNs, restNs)
    const unsplit = {
      elapsedNs: S,
      capacityNs: S,
      busyNs,
      cells,
      errorNj: 5n * S,
      proportional: false,
    }
    const split = splitReading({
      readingNj: nj(joules),
      idleDrawNj: nj(0n),
      busyNs,
      cells,
      weigh: (ofCells) => pricing.weigh?.(unsplit, ofCells) ?? [],
    })
    const closed = pricing.close({ ...unsplit, ...split, method: 'nvml', bandPct: 3 })
    return { split, closed }
  }
  const tariff = (name: string) => pricing.cells.get(name)?.njPerCpuS
  return { bills, pricing, second, tariff }
}

test('a new model begins with the first tariff, not with that of its neighbour', () => {
  const { pricing, second, tariff } = rig()
  for (let nth = 0; nth < 20; nth++) second(200n * S, { large: S / 2n })
  assert.ok((tariff('large') ?? 0n) > 399n * S)
  assert.equal(pricing.others.njPerCpuS, 15n * S)
  second(200n * S, { large: S / 2n, fresh: 0n })
  assert.equal(tariff('fresh'), 15n * S)
  // Nothing but the new one explains 10 J more.
  for (let nth = 0; nth < 10; nth++) second(210n * S, { large: S / 2n, fresh: S / 2n })
  const fresh = Number(tariff('fresh')) / 1e9
  assert.ok(fresh > 5 && fresh < 25, `${fresh} J`)
  assert.ok((tariff('large') ?? 0n) > 380n * S)
})

test('a model that left is forgotten, and more than the greatest number have the first tariff', () => {
  const { pricing, second, tariff } = rig()
  second(100n * S, { a: S / 2n })
  second(100n * S, { b: S / 2n })
  assert.equal(tariff('a'), undefined)
  const many = Object.fromEntries(
    Array.from({ length: MODELS_MAX + 5 }, (_, nth) => [`m${nth}`, S / 200n]),
  )
  const { split } = second(100n * S, many)
  assert.equal(pricing.cells.size, MODELS_MAX)
  assert.ok(split.shares.every(({ name, dynamicNj }) => name === '(rest)' || dynamicNj > 0n))
  for (let nth = 0; nth < 200; nth++) second(100n * S, { [`n${nth}`]: S / 2n })
  assert.equal(pricing.cells.size, 1)
})

test('a total that jumps moves no division of later windows', () => {
  const { second } = rig()
  const shareOf = () => {
    const { split } = second(180n * S, { a: S / 4n, b: S / 8n })
    return Number(split.shares[0]?.dynamicNj) / 180e9
  }
  for (let nth = 0; nth < 20; nth++)
    second(60n * S, nth % 2 === 0 ? { a: S / 4n, b: 0n } : { a: 0n, b: S / 8n })
  const before = shareOf()
  second(180n * S, { a: 2n * S, b: S / 8n })
  const after = shareOf()
  assert.ok(Math.abs(after - before) < 0.05, `${before} became ${after}`)
})

test('a credit of one model is taken off its own tariff, a quarter at most', () => {
  const { bills, pricing, second, tariff } = rig()
  const bill = (name: string, joules: bigint) => {
    const { chargedNs, accruedNj } = bills.get(name) ?? NOTHING_BILLED
    bills.set(name, { chargedNs: chargedNs + S / 4n, accruedNj: nj(accruedNj + joules) })
  }
  for (let nth = 0; nth < 20; nth++) {
    bill('a', 25n * S)
    bill('b', 50n * S)
    second(75n * S, { a: S / 4n, b: S / 4n })
  }
  const [a = 0n, b = 0n] = [tariff('a'), tariff('b')]
  bill('a', 2000n * S)
  bill('b', 0n)
  second(75n * S, { a: S / 4n, b: S / 4n })
  assert.ok(pricing.carriedNj > 1900n * S)
  assert.ok((tariff('a') ?? 0n) * 100n < a * 80n && (tariff('a') ?? 0n) * 100n >= a * 73n)
  assert.ok((tariff('b') ?? 0n) * 100n > b * 95n)
})

test('a bill that comes in a window without steps of its model is set against the last steps', () => {
  const { bills, pricing, second, tariff } = rig()
  const bill = (name: string, joules: bigint) => {
    const { chargedNs, accruedNj } = bills.get(name) ?? NOTHING_BILLED
    bills.set(name, { chargedNs: chargedNs + S, accruedNj: nj(accruedNj + joules) })
  }
  for (let nth = 0; nth < 20; nth++) {
    bill('a', 100n * S)
    second(100n * S, { a: S, b: 0n })
  }
  second(100n * S, { a: S, b: 0n })
  const before = tariff('a')
  bill('a', 100n * S)
  const { closed } = second(50n * S, { a: 0n, b: S })
  assert.equal(closed.trueUpNj, 0n)
  assert.equal(pricing.carriedNj, 0n)
  assert.equal(tariff('a'), before)
  // The last bill of a model that has left.
  second(100n * S, { a: S, b: 0n })
  bill('a', 100n * S)
  assert.equal(second(50n * S, { b: S }).closed.trueUpNj, 0n)
})

test('windows of models add up to the nanojoule, whatever their steps, bills and energies are', () => {
  const ns = fc.bigInt(0n, 2n * S)
  const used = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), ns, { maxKeys: 4 })
  const bill = fc.record({
    cell: fc.constantFrom('a', 'b', 'e'),
    chargedNs: ns,
    joules: fc.bigInt(0n, 10n ** 12n),
  })
  const one = fc.record({ joules: fc.bigInt(0n, 10n ** 12n), used, restNs: ns, bill })
  const property = fc.property(fc.array(one, { maxLength: 30 }), (all) => {
    const { bills, pricing, second } = rig()
    let [readingNj, sharesNj, accruedNj] = [0n, 0n, 0n]
    for (const { joules, used: times, restNs, bill: more } of all) {
      const { chargedNs, accruedNj: before } = bills.get(more.cell) ?? NOTHING_BILLED
      bills.set(more.cell, {
        chargedNs: chargedNs + more.chargedNs,
        accruedNj: nj(before + more.joules),
      })
      const { split, closed } = second(joules, times, restNs)
      readingNj += joules
      sharesNj += split.shares.reduce((sum, share) => sum + share.dynamicNj + share.idleNj, 0n)
      accruedNj += closed.accruedNj
      assert.ok(split.shares.every(({ dynamicNj }) => dynamicNj >= 0n))
      for (const { njPerCpuS } of pricing.cells.values())
        assert.ok(njPerCpuS >= 0n && njPerCpuS <= 700n * S)
    }
    const billedNj = bills.values().reduce((sum, billed) => sum + billed.accruedNj, 0n)
    assert.deepEqual([sharesNj, accruedNj], [readingNj, billedNj])
    const { accruedNj: accrued, shareNj, trueUpNj } = pricing.totals
    assert.deepEqual([accrued, trueUpNj], [billedNj, accrued - shareNj])
  })
  fc.assert(property, { numRuns: 300, seed: 7 })
})
