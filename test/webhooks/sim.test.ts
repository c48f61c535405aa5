// Histories of the dispatcher in virtual time. ERGON_LONG=1 runs 10,000 seeds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenSeeds } from '../seeds.ts'
import { simulateWebhooks, WEBHOOK_PLANTS } from './simulate.ts'

const { first: FIRST, count: COUNT } = chosenSeeds(40)
const PLANTED_SEEDS_MAX = 40

test(`deliveries survive ${COUNT} histories of faults`, async (t) => {
  let deliveries = 0
  let requests = 0
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    const history = await simulateWebhooks(seed)
    const again = `ERGON_SEED=${seed} node --test test/webhooks/sim.test.ts`
    assert.deepEqual(history.faults, [], again)
    deliveries += history.deliveries
    requests += history.requests
  }
  t.diagnostic(`${deliveries} deliveries, ${requests} requests`)
})

for (const plant of WEBHOOK_PLANTS)
  test(`a planted fault turns it red: the state ${plant}`, async (t) => {
    for (let seed = 1; seed <= PLANTED_SEEDS_MAX; seed++) {
      const { faults } = await simulateWebhooks(seed, plant)
      if (faults.length === 0) continue
      return t.diagnostic(`seed ${seed}: ${faults[0]}`)
    }
    assert.fail(`${PLANTED_SEEDS_MAX} seeds stay green`)
  })
