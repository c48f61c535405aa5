// The bill of a plan: its ceiling follows the description, so all CPU of the reading is on the bill.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { energyOfCpu, nj } from '#base/units.ts'
import { openTestCharging, NJ_PER_CPU_S } from '#charging/charging.fixture.ts'
import { DESCRIPTION_CHARACTERS_MAX } from '#contract/deployments/deployment-limits.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { ACCOUNT, stacksOfFile } from '#deployments/apply/stacks.fixture.ts'

const skip = whyNoState()
const { ask } = stacksOfFile()

// The ceiling that a request has until its own is known, which is 0.3 s of CPU.
const FIRST_NJ = nj(1_000_000_000n)
const FREE_NJ = 1_000_000_000_000n
const PARTS = 2

/** The CPU that a plan is billed, where each of its two parts takes so much. */
async function billedNs(description: string, partNs: number): Promise<bigint> {
  await using bench = await openTestCharging(FREE_NJ)
  const spend = bench.charging.open()
  const payer = bench.payer(ACCOUNT)
  await spend.admit(payer, 'deployment.create', FIRST_NJ)
  const mark = () => {
    bench.spendCpu(partNs)
    spend.mark()
  }
  const [admit, finish] = [spend.admit.bind(spend), spend.finish.bind(spend)]
  const owner = { caller: payer, spend: { requestId: spend.requestId, mark, admit, finish } }
  await ask({ stack: 'bill', description, dry_run: true }, owner)
  const { energy_nj: energyNj } = spend.settle(200)
  return (BigInt(energyNj) * 1_000_000_000n) / NJ_PER_CPU_S
}

test('all CPU of the reading of a description is on the bill of its plan', { skip }, async () => {
  // Four times the CPU of all steps of evaluation, and of 8,000 local values that refer to each other.
  const shortNs = 600_000_000
  const longNs = 2_500_000_000
  const long = ' '.repeat(DESCRIPTION_CHARACTERS_MAX)
  for (const [description, partNs] of [
    ['', shortNs],
    [long, longNs],
  ] as const) {
    const energy = energyOfCpu(BigInt(PARTS * partNs), NJ_PER_CPU_S)
    assert.ok(energy > FIRST_NJ)
    assert.equal(await billedNs(description, partNs), BigInt(PARTS * partNs))
  }
})
