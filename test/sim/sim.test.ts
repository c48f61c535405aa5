import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenSeeds } from '../seeds.ts'
import { PLANTS } from './faults.ts'
import { runHistories } from './histories.ts'

// The plant that is met most seldom is found at seed 3.
const { first, count, isOne } = chosenSeeds(120)
const PLANTED_SEEDS_MAX = 120

test(`money and receipts survive ${count} histories of faults`, async (t) => {
  const { charges, paid, red } = await runHistories({ first, count })
  const again = `again with: ERGON_SEED=${red?.seed} node --test test/sim/sim.test.ts`
  assert.deepEqual(red?.faults ?? [], [], `seed ${red?.seed}; ${again}`)
  t.diagnostic(`${charges} charges, ${paid} of them paid`)
  assert.ok(paid > count, 'the histories bill')
})

for (const plant of PLANTS)
  test(
    `a planted fault turns the simulation of charges red: ${plant}`,
    { skip: isOne },
    async (t) => {
      const { red } = await runHistories({ first: 1, count: PLANTED_SEEDS_MAX, plant })
      assert.ok(red, `${PLANTED_SEEDS_MAX} seeds stay green`)
      t.diagnostic(`seed ${red.seed}: ${red.faults[0]?.split('\n')[0] ?? ''}`)
    },
  )
