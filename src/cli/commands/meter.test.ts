// The text of `ergon meter`: lines of the figures that `--json` has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControlAnswer } from '#contract/control.ts'
import { pageOf } from './meter.ts'

type MeterAnswer = ControlAnswer<'meter.status'>

const OWN = {
  meter: 'node',
  now: {
    k: '1795000000',
    method: 'model',
    band_pct: '40',
    watts: '31.512',
    idle_watts: '24.000',
    billed_watts: '5.104',
    idle_from: 'model',
    busy_cpus: '1.250',
    split: [{ name: 'gw-1', payer: 'caller', watts: '5.104', idle_watts: '0.000' }],
  },
  model: { basis: 'AMD EPYC', band_pct: '40', cpus: '16' },
  pue: '1.000',
  tariff_j_per_cpu_s: '6.009600000',
  windows: '160',
  windows_fallback: '0',
  reading_nj: '5041920000000',
  true_up: {
    accrued_nj: '801000000000',
    share_nj: '816640000000',
    true_up_nj: '-15640000000',
    carried_nj: '0',
  },
}
const MACHINE: MeterAnswer = {
  ...OWN,
  carbon: {},
  indirect: { level_milli: '1000', active_second_ms: '0', unbilled_ms: '0', operations: [] },
}
const GPU: MeterAnswer['gpu'] = {
  ...OWN,
  meter: 'node:gpu',
  now: {
    k: '1795000000',
    method: 'nvml',
    band_pct: '5',
    watts: '244.100',
    idle_watts: '118.000',
    billed_watts: '121.000',
    idle_from: 'setting',
    busy_cpus: '0.910',
    split: [{ name: 'model-qwen', payer: 'caller', watts: '126.100', idle_watts: '0.000' }],
  },
  model: { basis: 'NVIDIA H200, driver 580.159.04', band_pct: '100', cpus: '1' },
  tariff_j_per_cpu_s: '138.571000000',
  true_up: {
    accrued_nj: '9061000000000',
    share_nj: '9274000000000',
    true_up_nj: '-213000000000',
    carried_nj: '33000000000',
  },
}

const trueUps = (answer: MeterAnswer) =>
  pageOf(answer)
    .split('\n')
    .filter((line) => line.startsWith('true-up'))

test('ergon meter has the true-up of the machine, and of its GPU where there is one, as --json has', () => {
  const ofMachine =
    'true-up accrued_nj=801000000000 share_nj=816640000000 true_up_nj=-15640000000 carried_nj=0'
  assert.deepEqual(trueUps(MACHINE), [ofMachine])
  assert.deepEqual(trueUps({ ...MACHINE, gpu: GPU }), [
    'true-up of the GPU accrued_nj=9061000000000 share_nj=9274000000000 true_up_nj=-213000000000 carried_nj=33000000000',
    ofMachine,
  ])
})
