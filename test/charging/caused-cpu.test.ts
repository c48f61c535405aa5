// The reference of the shares is unbiased, and its error is what it says: for simulated seconds of a product whose rest is
// known. Rest falls a little over the run, and each second differs from the next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MeterWindow } from '#metering/window.ts'
import { randomOf } from '#charging/indirect.fixture.ts'
import { causedBy, restBetween, restOf } from './caused-cpu.ts'

const RUNS = 400
const REST_S = 60
const LOAD_S = 25
/** The noise of rest: 10 ms of a second. */
const NOISE_MS = 10
const CAUSED_MS_PER_S = 500

const windowOf = (cpuMs: number) =>
  ({
    elapsedNs: 1_000_000_000n,
    shares: [{ name: 'state', cpuNs: BigInt(Math.round(cpuMs * 1e6)) }],
  }) as unknown as MeterWindow

/** A run with 12 loads between two rests: the error of each cause in percent, and the error that the reference states. */
function runOf(seed: number, fallMs: number) {
  const random = randomOf(seed)
  // Seconds are skewed: most are calm, and one in ten has a burst.
  const noise = () => (random() < 0.1 ? 3 : -1 / 3) * NOISE_MS * random() * 2
  const restMs = (part: number) => 20 + fallMs * (1 - part)
  const rest = (part: number) =>
    restOf(Array.from({ length: REST_S }, () => windowOf(restMs(part) + noise())))
  const before = rest(0)
  const loads = Array.from({ length: 12 }, (_, nth) =>
    Array.from({ length: LOAD_S }, () =>
      windowOf(CAUSED_MS_PER_S + restMs((nth + 0.5) / 12) + noise()),
    ),
  )
  const between = restBetween(before, rest(1))
  return loads.map((windows, nth) => {
    const { ms, errorMs } = causedBy(windows, between)
    const truthMs = CAUSED_MS_PER_S * LOAD_S
    const wrongRest = Math.abs(between.msPerS - restMs((nth + 0.5) / 12))
    return {
      wrongPct: (100 * (ms - truthMs)) / truthMs,
      errorPct: (100 * errorMs) / ms,
      isWithin: wrongRest <= between.errorMsPerS,
    }
  })
}

const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length

test('the reference of caused CPU is unbiased, and known to 2 % with a minute of rest on both sides', () => {
  for (const fallMs of [0, 5]) {
    const all = Array.from({ length: RUNS }, (_, seed) => runOf(seed + 1, fallMs))
    const loads = all.flat()
    const bias = mean(loads.map(({ wrongPct }) => wrongPct))
    const stated = loads.map(({ errorPct }) => errorPct).toSorted((a, b) => a - b)
    const p95 = stated[Math.floor(0.95 * stated.length)] ?? NaN
    const facts = `bias ${bias.toFixed(2)} %, error ${mean(stated).toFixed(2)} %, p95 ${p95.toFixed(2)} %`
    assert.ok(Math.abs(bias) < 0.1, facts)
    assert.ok(p95 < 2, facts)
    const within = loads.filter(({ isWithin }) => isWithin).length / loads.length
    assert.ok(within > 0.9, `${(100 * within).toFixed(0)} % of rests are within their error`)
  }
})
