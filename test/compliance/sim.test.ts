// Histories of evidence packs in virtual time, on a real state. ERGON_LONG=1 runs 10,000 seeds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { chosenSeeds, plantedSeeds } from '../seeds.ts'
import { runPackHistories } from './pack-histories.ts'
import { PACK_PLANTS, type PackPlant } from './pack-plants.ts'

const { first: FIRST, count: COUNT } = chosenSeeds(10)
const PLANTED_SEEDS_MAX = 60
const OPTIONS = { skip: whyNoState(), timeout: 3 * 3_600_000 }

let server: TestUrl
before(async () => {
  if (OPTIONS.skip === false) server = await openTestUrl()
})
after(async () => {
  await server?.[Symbol.asyncDispose]()
})

test(
  `packs are made once and agree with the ledger, after ${COUNT} histories of faults`,
  OPTIONS,
  async (t) => {
    const seeds = Array.from({ length: COUNT }, (_, nth) => FIRST + nth)
    const [found] = await runPackHistories({ url: server.of('public'), histories: [{ seeds }] })
    const again = `ERGON_SEED=${found?.red?.seed} npm test -- test/compliance/sim.test.ts`
    assert.deepEqual(found?.red?.faults ?? [], [], again)
    t.diagnostic(`${found?.packs} packs, ${found?.made} kept to the end, ${found?.kills} kills`)
  },
)

test('planted faults turn it red', OPTIONS, async (t) => {
  const histories = Object.entries(PACK_PLANTS).map(([plant, known]) => ({
    plant: plant as PackPlant,
    seeds: plantedSeeds(known, PLANTED_SEEDS_MAX),
  }))
  for (const { plant, red } of await runPackHistories({ url: server.of('public'), histories })) {
    assert.ok(red !== undefined, `${plant}: ${PLANTED_SEEDS_MAX} seeds stay green`)
    t.diagnostic(`${plant}: seed ${red.seed}: ${red.faults[0]}`)
  }
})
