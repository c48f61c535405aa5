// The figure in the head of a stream is the most that is billed, whatever the work takes, and the payer has it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj, priceOf } from '#base/units.ts'
import { grantFunds } from '#ledger/reference/funds.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import type { OpenSpend } from './open-spend.ts'

const J = 1_000_000_000n
const priceOfJoules = (joules: bigint) => joules * PUSD_PER_J
const claim = (work: OpenSpend, energyNj: bigint) =>
  work.claim({ kind: 'cpu', cell: 'model', cpuNs: (energyNj * J) / NJ_PER_CPU_S + 1n })
const tick = async (bench: TestCharging) => {
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
}
/** The head leaves: what it says of the energy. */
const head = (work: OpenSpend): bigint => {
  work.announce(200)
  return work.estimate().ceilingNj
}

test('work that takes more than its head said is not cut, and billed what the head said', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(50n * J))
  claim(work, J)
  work.bound(nj(3n * J))
  const told = head(work)
  assert.equal(told, work.measured() + 3n * J)
  claim(work, 9n * J)
  await tick(bench)
  assert.equal(work.cutReason, undefined)
  assert.equal(work.settle(200).energy_nj, told.toString())
})

test('a head says no more than its account has, and the work is cut there', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(4n)), 'chat.create', nj(50n * J))
  work.bound(nj(43n * J))
  const told = head(work)
  // As far as a pico-dollar goes.
  assert.equal(priceOf(nj(told), PUSD_PER_J), priceOfJoules(4n))
  claim(work, 3n * J)
  await tick(bench)
  const cutBy = () => work.cutReason?.code
  assert.equal(cutBy(), undefined)
  claim(work, 5n * J)
  assert.equal(cutBy(), 'balance_depleted')
  assert.equal(work.settle(402).charge_pusd, priceOfJoules(4n).toString())
})

test('funds that come after the head are for later work', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(4n)), 'chat.create', nj(50n * J))
  const told = head(work)
  const lot = { account: 'acct_1', kind: 'funds', priority: 50, transferKind: 'top_up' } as const
  grantFunds(bench.books, { ...lot, amount: priceOfJoules(900n) }, Date.now())
  claim(work, 3n * J)
  await tick(bench)
  claim(work, 30n * J)
  assert.equal(work.cutReason?.code, 'balance_depleted')
  const charge = work.settle(402)
  assert.ok(BigInt(charge.energy_nj) <= told, `${charge.energy_nj} of ${told}`)
  const later = bench.charging.open()
  await later.admit(bench.payer('acct_1'), 'chat.create', nj(50n * J))
  later.settle(200)
})

test('an account with enough is told the ceiling of the work', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(50n * J))
  assert.equal(head(work), 50n * J)
  work.settle(200)
})

test('whatever works of one account take, none is billed more than its head said, nor all more than there was', async () => {
  const milliJoules = fc.integer({ min: 1, max: 12_000 }).map((mJ) => BigInt(mJ) * 1_000_000n)
  const step = fc.record({
    of: fc.nat(2),
    moreNj: milliJoules,
    ownNs: fc.nat(10 ** 8),
    ticks: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        balanceNj: fc.integer({ min: 1000, max: 30_000 }).map((mJ) => BigInt(mJ) * 1_000_000n),
        rests: fc.array(milliJoules, { minLength: 3, maxLength: 3 }),
        steps: fc.array(step, { maxLength: 12 }),
      }),
      async ({ balanceNj, rests, steps }) => {
        await using bench = await openTestCharging()
        const balance = priceOf(nj(balanceNj), PUSD_PER_J)
        const payer = bench.payer('acct_1', balance)
        const works = rests.map(() => ({ work: bench.charging.open(), claimedNj: 0n, told: 0n }))
        for (const [at, one] of works.entries()) {
          const admitted = async () => await one.work.admit(payer, 'chat.create', nj(20n * J))
          if (
            !(await admitted().then(
              () => true,
              () => false,
            ))
          )
            continue
          one.work.bound(nj(rests[at] ?? 1n))
          one.told = head(one.work)
        }
        for (const { of, moreNj, ownNs, ticks } of steps) {
          const one = works[of]
          if (one === undefined || one.told === 0n) continue
          claim(one.work, (one.claimedNj += moreNj))
          bench.spendCpu(ownNs)
          one.work.mark()
          if (ticks) await tick(bench)
        }
        let billed = 0n
        for (const { work, told } of works) {
          const charge = work.settle(work.cutReason === undefined ? 200 : 402)
          if (charge.account === 'nobody') continue
          assert.ok(BigInt(charge.energy_nj) <= told, `${charge.energy_nj} of ${told}`)
          billed += BigInt(charge.charge_pusd)
        }
        assert.ok(billed <= balance, `${billed} of ${balance}`)
        await tick(bench)
        assert.deepEqual([bench.books.alarms, brokenInvariants(bench.books)], [[], []])
      },
    ),
    { numRuns: 40 },
  )
})
