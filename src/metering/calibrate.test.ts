import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { calibrate, type CalibrateDeps, type CalibrationStep } from './calibrate.ts'
import { calibrationText, modelOfCalibration, parseCalibration } from './calibration.ts'
import type { CpuInfo } from './sources/cpu-info.ts'
import { unavailable, type MeterSource } from './sources/source.ts'

const S = 1_000_000_000n
const CPU: CpuInfo = {
  vendor: 'GenuineIntel',
  family: 6,
  model: 158,
  stepping: 10,
  name: 'test',
  cpus: 4,
}
/** Concave, as machines are: 20 W idle, 80 W full, half of the rise by a quarter of the load. */
const wattsAt = (permille: number) => 20 + 60 * Math.sqrt(permille / 1000)

/** A machine in simulated time: load costs CPU and power, and 1 % is always busy. */
function createMachine(watts: (permille: number, second: number) => number) {
  let nowMs = 0
  let loadPermille = 0
  let busyNs = 0n
  let totalNj = 0n
  let running = 0
  const steps: CalibrationStep[] = []
  const busyPermille = () => Math.min(1000, loadPermille + 10)
  const reference: MeterSource = {
    name: 'plug',
    method: 'plug',
    bandPct: 2,
    ceilingMilliwatts: () => 1_000_000n,
    read: async () => ({ kind: 'counter', totalNj: nj(totalNj) }),
    close: async () => {},
  }
  const deps: CalibrateDeps = {
    cpu: CPU,
    reference,
    busyNs: () => busyNs,
    clock: { wallMs: () => Date.parse('2026-11-21T10:00:00Z') + nowMs, monotonicMs: () => nowMs },
    sleep: async (ms, signal) => {
      signal.throwIfAborted()
      nowMs += ms
      busyNs += BigInt(ms * busyPermille() * CPU.cpus) * 1000n
      totalNj += BigInt(Math.round(watts(busyPermille(), nowMs / 1000) * ms * 1e6))
    },
    load: async (permille) => {
      loadPermille = permille
      running++
      return {
        stop: async () => {
          loadPermille = 0
          running--
        },
      }
    },
    progress: (step) => steps.push(step),
  }
  return { deps, steps, reference, running: () => running }
}

const signal = new AbortController().signal
const wattsOf = (model: ReturnType<typeof modelOfCalibration>, permille: number) =>
  Number(model.energy({ elapsedNs: S, busyNs: BigInt(permille * CPU.cpus) * 1_000_000n })) / 1e9

test('calibrate() fits four points and declares what it misses between them', async () => {
  const { deps, steps, running } = createMachine(wattsAt)
  const calibration = await calibrate(deps, signal)
  assert.deepEqual(
    steps.map((step) => [step.askedPermille, step.permille]),
    [
      [0, 10],
      [250, 260],
      [500, 510],
      [1000, 1000],
      [100, 110],
      [750, 760],
    ],
  )
  assert.equal(running(), 0)
  const model = modelOfCalibration(calibration)
  for (const permille of [10, 260, 510, 1000])
    assert.ok(Math.abs(wattsOf(model, permille) - wattsAt(permille)) < 0.01)
  // At 110 ‰ a chord of the square root lies 5 W under its 40 W: the band holds that and the plug's 2 %.
  const missed = (100 * Math.abs(wattsOf(model, 110) - wattsAt(110))) / wattsAt(110)
  assert.ok(missed > 5)
  assert.ok(calibration.bandPct >= missed + 2 && calibration.bandPct < missed + 4)
})

test('a noisy reference widens the band', async () => {
  const quiet = await calibrate(createMachine((permille) => 20 + permille / 20).deps, signal)
  const noise = (second: number) => 1 + 0.1 * Math.sin(second * 7)
  const noisy = await calibrate(
    createMachine((permille, second) => (20 + permille / 20) * noise(second)).deps,
    signal,
  )
  assert.equal(quiet.bandPct, 3)
  assert.ok(noisy.bandPct >= 10)
})

test('a calibration file reads back, and only on its own processor', async () => {
  const calibration = await calibrate(createMachine(wattsAt).deps, signal)
  const text = calibrationText(calibration)
  assert.deepEqual(parseCalibration(text, CPU), calibration)
  assert.throws(() => parseCalibration(text, { ...CPU, cpus: 8 }), /another processor \(cpus/)
  assert.throws(() => parseCalibration('{', CPU), /not JSON/)
  assert.throws(() => parseCalibration(text.replace('"v": 1', '"v": 2'), CPU), /version/)
  assert.throws(
    () => parseCalibration(text.replace(/"band_pct": \d+/, '"band_pct": 0'), CPU),
    /band/,
  )
  const curve = [...calibration.curve].toReversed()
  assert.throws(
    () => parseCalibration(calibrationText({ ...calibration, curve }), CPU),
    /do not rise/,
  )
})

test('calibrate() refuses a reference that does not follow the load', async () => {
  const { deps, running } = createMachine(() => 50)
  await assert.rejects(calibrate(deps, signal), /does not follow the load: 50000 mW idle/)
  assert.equal(running(), 0)
})

test('calibrate() refuses a load that did not load', async () => {
  const { deps } = createMachine(wattsAt)
  const load = async () => ({ stop: async () => {} })
  await assert.rejects(calibrate({ ...deps, load }, signal), /10 ‰ became 10 ‰/)
})

test('calibrate() stops its load when the reference falls silent or it is aborted', async () => {
  const silent = createMachine(wattsAt)
  const read = async () => unavailable('gone')
  const reference = { ...silent.reference, read }
  await assert.rejects(calibrate({ ...silent.deps, reference }, signal), /plug: gone/)
  assert.equal(silent.running(), 0)

  const aborted = createMachine(wattsAt)
  const abort = new AbortController()
  const progress = () => abort.abort(new RangeError('enough'))
  await assert.rejects(calibrate({ ...aborted.deps, progress }, abort.signal), /enough/)
  assert.equal(aborted.running(), 0)
})
