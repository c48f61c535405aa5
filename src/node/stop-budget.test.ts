import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createStopBudget, DRAIN_MS, STOP_MS_MAX, type StopStage } from './stop-budget.ts'

const STAGES: readonly StopStage[] = ['gateways', 'workers', 'signers', 'accounting', 'state']

test('a stop whose every stage takes all it may ends within the budget, under 20 s', () => {
  let nowMs = 5000
  const budget = createStopBudget({ monotonicMs: () => nowMs })
  for (const stage of STAGES) nowMs += budget.graceMs(stage)
  assert.equal(nowMs - 5000, STOP_MS_MAX)
  assert.ok(STOP_MS_MAX < 20_000)
})

test('time that a stage leaves over is for those after it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5 }),
      (shares) => {
        let nowMs = 0
        const budget = createStopBudget({ monotonicMs: () => nowMs })
        for (const [index, stage] of STAGES.entries()) {
          const graceMs = budget.graceMs(stage)
          assert.ok(graceMs >= 1500 && nowMs + graceMs <= STOP_MS_MAX)
          nowMs += graceMs * (shares[index] ?? 0)
        }
      },
    ),
  )
  const quick = createStopBudget({ monotonicMs: () => 0 })
  for (const stage of STAGES) quick.graceMs(stage)
  assert.equal(quick.graceMs('state'), STOP_MS_MAX)
})

test('the time of a stage is a whole number, as time-outs of signals want it', () => {
  const budget = createStopBudget({ monotonicMs: () => 1234.567 })
  for (const stage of STAGES) assert.ok(Number.isInteger(budget.graceMs(stage)))
})

test('gateways have time to settle and post after their requests were cut', () => {
  const budget = createStopBudget({ monotonicMs: () => 0 })
  assert.ok(budget.graceMs('gateways') >= DRAIN_MS + 2500)
})
