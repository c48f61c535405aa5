import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLANTS } from './faults.ts'
import { simulate } from './simulate.ts'

const one = process.env['ERGON_SEED']
const first = one === undefined ? 1 : Number(one)
const count = one === undefined ? Number(process.env['ERGON_SEEDS'] ?? 500) : 1
const PLANTED_SEEDS_MAX = 60
// Errors are part of the histories, and their stacks took a tenth of the time.
if (one === undefined) Error.stackTraceLimit = 0

test(`money and receipts survive ${count} histories of faults`, async (t) => {
  let charges = 0
  let paid = 0
  for (let seed = first; seed < first + count; seed++) {
    const result = await simulate(seed)
    charges += result.charges
    paid += result.paid
    assert.deepEqual(
      result.faults,
      [],
      `seed ${seed}; again with: ERGON_SEED=${seed} node --test test/sim/sim.test.ts`,
    )
  }
  t.diagnostic(`${charges} charges, ${paid} of them paid`)
  assert.ok(paid > count, 'the histories bill')
})

for (const plant of PLANTS)
  test(`a planted fault turns it red: ${plant}`, { skip: one !== undefined }, async (t) => {
    for (let seed = 1; seed <= PLANTED_SEEDS_MAX; seed++) {
      const { faults } = await simulate(seed, plant)
      if (faults[0] === undefined) continue
      t.diagnostic(`seed ${seed}: ${faults[0].split('\n')[0] ?? ''}`)
      return
    }
    assert.fail(`${PLANTED_SEEDS_MAX} seeds stay green`)
  })
