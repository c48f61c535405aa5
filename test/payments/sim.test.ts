// Histories of payments in virtual time, on a real state. ERGON_LONG=1 runs 10,000 seeds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { chosenSeeds } from '../seeds.ts'
import { PAYMENT_PLANTS } from './sim-processor.ts'
import { simulatePayments } from './simulate.ts'

const { first: FIRST, count: COUNT } = chosenSeeds(15)
const PLANTED_SEEDS_MAX = 40
/** Histories in one state: its books are checked as a whole, and grow with each of them. */
const HISTORIES_EACH = 50
const OPTIONS = { skip: whyNoState(), timeout: 3 * 3_600_000 }

let server: TestUrl
before(async () => {
  if (OPTIONS.skip === false) server = await openTestUrl()
})
after(async () => {
  await server?.[Symbol.asyncDispose]()
})

test(
  `the rows of payments are what happened, after ${COUNT} histories of faults`,
  OPTIONS,
  async (t) => {
    let payments = 0
    for (let first = FIRST; first < FIRST + COUNT; first += HISTORIES_EACH) {
      await using state = await openLedgerState(server.of, 1)
      for (let seed = first; seed < Math.min(first + HISTORIES_EACH, FIRST + COUNT); seed++) {
        const history = await simulatePayments(state, seed)
        assert.deepEqual(
          history.faults,
          [],
          `ERGON_SEED=${seed} npm test -- test/payments/sim.test.ts`,
        )
        payments += history.payments
      }
    }
    t.diagnostic(`${payments} payments`)
  },
)

for (const plant of PAYMENT_PLANTS)
  test(`a planted fault turns the simulation of payments red: ${plant}`, OPTIONS, async (t) => {
    await using state = await openLedgerState(server.of, 1)
    for (let seed = 1; seed <= PLANTED_SEEDS_MAX; seed++) {
      const { faults } = await simulatePayments(state, seed, plant)
      if (faults.length === 0) continue
      return t.diagnostic(`seed ${seed}: ${faults[0]}`)
    }
    assert.fail(`${PLANTED_SEEDS_MAX} seeds stay green`)
  })
