import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { energyOfCpu, nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { createTariff, type TariffMeter } from './tariff.ts'
import { addBilled, createTrueUp, NOTHING_BILLED } from './true-up.ts'
import { splitReading } from './window.ts'

const S = 1_000_000_000n
const MODEL = 10n * S
const CPUS = 4n
const PLUG = { method: 'plug', bandPct: 10 } as const

const observe = (
  tariff: TariffMeter,
  busyNs: bigint,
  njPerCpuS: bigint,
  known: EnergyBand = PLUG,
) =>
  tariff.observe({
    elapsedNs: S,
    busyNs,
    capacityNs: CPUS * S,
    dynamicNj: energyOfCpu(busyNs, njPerCpuS),
    chargedNs: 0n,
    trueUpNj: nj(0n),
    proportional: false,
    ...known,
  })

test('the tariff is the model’s at boot and then follows the windows', () => {
  const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
  assert.equal(tariff.njPerCpuS, MODEL)
  for (let window = 0; window < 60; window++) observe(tariff, S, 20n * S)
  assert.ok(tariff.njPerCpuS > 19_900_000_000n && tariff.njPerCpuS <= 20n * S)
})

test('the tariff stays within a fifth and five times the model’s', () => {
  const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
  for (let window = 0; window < 60; window++) observe(tariff, S, 900n * S)
  assert.equal(tariff.njPerCpuS, 5n * MODEL)
  for (let window = 0; window < 200; window++) observe(tariff, S, S / 100n)
  assert.equal(tariff.njPerCpuS, MODEL / 5n)
})

test('the tariff learns nothing from windows less than 5 % busy', () => {
  const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
  for (let window = 0; window < 60; window++) observe(tariff, (CPUS * S * 49n) / 1000n, 45n * S)
  assert.equal(tariff.njPerCpuS, MODEL)
})

test('the tariff is known as what made it: as the model until readings did, and by the widest band', () => {
  const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
  const model = { method: 'model', bandPct: 40 } as const
  assert.deepEqual(tariff.known, model)
  // A plug is read, but of windows that teach nothing.
  for (let window = 0; window < 60; window++) observe(tariff, CPUS * (S / 1000n), 12n * S)
  assert.deepEqual([tariff.njPerCpuS, tariff.known], [MODEL, model])
  // A part of the model's is in it still.
  observe(tariff, S, 12n * S)
  assert.deepEqual(tariff.known, model)
  for (let window = 0; window < 8; window++) observe(tariff, S, 12n * S)
  assert.deepEqual(tariff.known, PLUG)
  // RAPL stands in, and then the model, for as long as they matter.
  const rapl = { method: 'rapl', bandPct: 5 } as const
  observe(tariff, S, 12n * S, rapl)
  assert.deepEqual(tariff.known, PLUG)
  observe(tariff, S, 12n * S, model)
  assert.deepEqual(tariff.known, model)
  for (let window = 0; window < 8; window++) observe(tariff, S, 12n * S, rapl)
  assert.deepEqual(tariff.known, rapl)
  // Beyond five times the model's the limit is the model's.
  for (let window = 0; window < 60; window++) observe(tariff, S, 900n * S, rapl)
  assert.deepEqual([tariff.njPerCpuS, tariff.known], [5n * MODEL, model])
})

test('over-billing is taken off the next ten seconds, under-billing is the operator’s', () => {
  const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
  const window = {
    elapsedNs: S,
    busyNs: S,
    capacityNs: CPUS * S,
    chargedNs: S,
    proportional: false,
    ...PLUG,
  }
  const at = (joules: bigint) => energyOfCpu(S, joules * S)
  tariff.observe({ ...window, dynamicNj: at(10n), trueUpNj: nj(-50n * S) })
  assert.deepEqual([tariff.njPerCpuS, tariff.carriedNj], [MODEL, 0n])
  tariff.observe({ ...window, dynamicNj: at(10n), trueUpNj: nj(20n * S) })
  assert.deepEqual([tariff.njPerCpuS, tariff.carriedNj], [8n * S, 20n * S])
  // Ten seconds at 8 J where a CPU-second takes 10 J pay the 20 J back; the tariff eases off as they go.
  for (let second = 0; second < 40; second++) {
    const trueUpNj = nj(energyOfCpu(S, tariff.njPerCpuS) - at(10n))
    tariff.observe({ ...window, dynamicNj: at(10n), trueUpNj })
  }
  assert.ok(tariff.carriedNj < S / 2n, `${tariff.carriedNj} nJ still carried`)
})

test('a credit waits through seconds without work: the tariff stays', () => {
  const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
  const window = { elapsedNs: S, capacityNs: CPUS * S, proportional: false, ...PLUG }
  const [dynamicNj, trueUpNj] = [nj(10n * S), nj(20n * S)]
  tariff.observe({ ...window, busyNs: S, dynamicNj, chargedNs: S, trueUpNj })
  const nothing = { busyNs: 0n, dynamicNj: nj(0n), chargedNs: 0n, trueUpNj: nj(0n) }
  for (let second = 0; second < 10; second++) tariff.observe({ ...window, ...nothing })
  assert.deepEqual([tariff.njPerCpuS, tariff.carriedNj], [8n * S, 20n * S])
})

test('the tariff loses a quarter at most to a credit, and never falls below a fifth of the model’s', () => {
  const after = (joules: bigint) => {
    const tariff = createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 })
    for (let second = 0; second < 60; second++) observe(tariff, S, joules * S)
    tariff.observe({
      elapsedNs: S,
      busyNs: S,
      capacityNs: CPUS * S,
      dynamicNj: nj(joules * S),
      chargedNs: S,
      trueUpNj: nj(1_000_000n * S),
      proportional: false,
      ...PLUG,
    })
    return tariff.njPerCpuS
  }
  assert.equal(after(10n), (MODEL * 3n) / 4n)
  assert.equal(after(2n), MODEL / 5n)
})

type Load = {
  readonly busyPermille: number
  readonly chargedPermille: number
  readonly noise: number
}

// Seconds that the streams of a span last; each takes the same part of what is charged.
const STREAMS = [1, 2, 3]

/**
 * A machine with a concave power curve and a noisy sensor, and streams that are billed at the tariff
 * of their first second. Returns Σ billed, Σ the same CPU's share, Σ reading of the whole span.
 */
function simulate(loads: readonly Load[], tariff: TariffMeter, streams: readonly number[]) {
  let billed = NOTHING_BILLED
  const agreed = streams.map(() => 0n)
  const trueUp = createTrueUp(() => billed)
  let readingNj = 0n
  for (const [second, { busyPermille, chargedPermille, noise }] of loads.entries()) {
    const busyNs = (CPUS * S * BigInt(busyPermille)) / 1000n
    // 20 W idle, 60 W full, concave: half of the dynamic power is there at a quarter of the load.
    const dynamicW = 40 * Math.sqrt(busyPermille / 1000)
    const reading = nj(BigInt(Math.round((20 + dynamicW) * (1 + noise / 1000) * 1e9)))
    readingNj += reading
    const chargedNs = (busyNs * BigInt(chargedPermille)) / 1000n / BigInt(streams.length)
    for (const [index, seconds] of streams.entries()) {
      if (second % seconds === 0) agreed[index] = tariff.njPerCpuS
      const accruedNj = energyOfCpu(chargedNs, agreed[index] ?? 0n)
      billed = addBilled(billed, { chargedNs, accruedNj })
    }
    const split = splitReading({ readingNj: reading, idleDrawNj: nj(20n * S), busyNs, cells: [] })
    const closed = trueUp.close(split)
    tariff.observe({
      elapsedNs: S,
      capacityNs: CPUS * S,
      ...split,
      ...closed,
      ...PLUG,
      proportional: false,
    })
  }
  return { ...trueUp.totals, readingNj }
}

const load = fc.record({
  busyPermille: fc.integer({ min: 100, max: 1000 }),
  chargedPermille: fc.integer({ min: 0, max: 1000 }),
  noise: fc.integer({ min: -20, max: 20 }),
})
// Load has levels that last: each of a dozen or more holds for some seconds, a minute in all at least.
const spans = fc
  .array(fc.tuple(load, fc.integer({ min: 5, max: 30 })), { minLength: 12, maxLength: 20 })
  .map((levels) => levels.flatMap(([level, seconds]) => Array<Load>(seconds).fill(level)))

/** The farthest that the true-up went from zero, in 1/10 000 of the reading. */
function worstTrueUp(tariffOf: () => TariffMeter, streams = STREAMS): bigint {
  let worst = 0n
  fc.assert(
    fc.property(spans, (span) => {
      const { accruedNj, trueUpNj, readingNj } = simulate(span, tariffOf(), streams)
      assert.ok(accruedNj <= readingNj)
      const off = ((trueUpNj < 0n ? -trueUpNj : trueUpNj) * 10_000n) / readingNj
      if (off > worst) worst = off
    }),
    { numRuns: 100, seed: 7 },
  )
  return worst
}

test('over a minute of changing load the true-up is at most 2 % of the reading', () => {
  const worst = worstTrueUp(() => createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 }))
  assert.ok(worst <= 200n, `${worst} of 10 000`)
})

test('known limit: streams that outlast the load they were admitted at are off by more', () => {
  const worst = worstTrueUp(() => createTariff({ modelNjPerCpuS: MODEL, modelBandPct: 40 }), [30])
  assert.ok(worst > 200n && worst <= 1500n, `${worst} of 10 000`)
})

test('planted: a tariff that never moves is seen by the same span', () => {
  const fixed: TariffMeter = { njPerCpuS: MODEL, known: PLUG, carriedNj: nj(0n), observe: () => {} }
  assert.ok(worstTrueUp(() => fixed) > 200n)
})
