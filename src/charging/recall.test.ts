// Two gateways on one small wallet: what one has in reserve is the other's when it needs it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj, priceCeiling } from '#base/units.ts'
import { systemClock } from '#base/clock.ts'
import { leaseWallet } from '#ledger/reference/tick.ts'
import { brokenInvariants, walletOf } from '#ledger/reference/books.ts'
import { CellHold } from './cell-hold.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import type { Payer } from './spend.ts'

const MJ = 1_000_000n
// The fixture keeps 500 mJ in reserve: the whole of these wallets.
const CEILING = nj(50n * MJ)
const ANSWER_NJ = 10n * MJ
const priceOfMj = (mj: bigint) => priceCeiling(nj(mj * MJ), PUSD_PER_J)
const REQUESTS_MAX = 200
const WALLET = 'money:acct_1'

const besideOf = (one: TestCharging) =>
  openTestCharging(undefined, systemClock, undefined, { beside: one })

/** One request of 10 mJ, whole; throws when it is not admitted. */
async function ask({ charging }: TestCharging, payer: Payer): Promise<void> {
  const work = charging.open()
  try {
    await work.admit(payer, 'chat.create', CEILING)
    await work.finish({
      kind: 'cpu',
      cell: 'model',
      cpuNs: (ANSWER_NJ * 1_000_000_000n) / NJ_PER_CPU_S,
    })
  } finally {
    work.settle(200)
  }
}

for (const [what, pusd, code] of [
  ['a small wallet', priceOfMj(450n), 'balance_depleted'],
  ['the rest of a free day', undefined, 'free_tier_exceeded'],
] as const)
  test(`two gateways spend ${what} to its end before either says that it is empty`, async () => {
    await using one = await openTestCharging(450n * MJ)
    await using other = await besideOf(one)
    const payer = one.payer('acct_1', pusd)
    let answered = 0
    await assert.rejects(
      async () => {
        for (; answered < REQUESTS_MAX; answered++)
          await ask(answered % 3 === 0 ? one : other, payer)
      },
      { code },
    )
    for (const { session } of [one, other]) await session.tickNow(AbortSignal.timeout(60_000))
    const wallet = pusd === undefined ? leaseWallet('free:acct_1', Date.now()) : WALLET
    const left = walletOf(one.books, wallet).posted
    assert.ok(left < (pusd === undefined ? CEILING : priceOfMj(50n)), `${left} of ${answered}`)
    assert.ok(answered >= 40, `${answered} answers`)
    assert.deepEqual(brokenInvariants(one.books), [])
  })

test('a reserve that rests is given back to who needs it', async () => {
  await using one = await openTestCharging()
  await using other = await besideOf(one)
  const payer = one.payer('acct_1', priceOfMj(450n))
  await ask(one, payer)
  assert.ok((one.leases.get(WALLET)?.amount ?? 0n) > 0n)
  await ask(other, payer)
})

test('the hold of running work is not given back: a session that waits for it hears so after a second', async () => {
  await using one = await openTestCharging()
  await using other = await besideOf(one)
  const payer = one.payer('acct_1', priceOfMj(55n))
  const work = one.charging.open()
  await work.admit(payer, 'chat.create', CEILING)
  await assert.rejects(ask(other, payer), { code: 'balance_depleted' })
  work.settle(200)
  await ask(other, payer)
})

test('work that goes on for long gives back what it holds ahead to who wants it', async () => {
  const [clock, aheadNj] = [systemClock, nj(500n * MJ)]
  await using one = await openTestCharging(undefined, clock, undefined, { aheadNj })
  await using other = await besideOf(one)
  const payer = one.payer('acct_1', priceOfMj(520n))
  const work = one.charging.open()
  await work.admit(payer, 'database.session', nj(10n ** 18n))
  const timer = setInterval(() => work.claim({ kind: 'cpu', cell: 'sessions', cpuNs: 1n }), 20)
  try {
    for (let answers = 0; answers < 30; answers++) await ask(other, payer)
    assert.equal(work.cutReason, undefined)
  } finally {
    clearInterval(timer)
    work.settle(200)
  }
})

test('a hold that is larger than its use gives back what another session wants', async () => {
  await using one = await openTestCharging()
  await using two = await besideOf(one)
  const payer = one.payer('acct_1', priceOfMj(4000n))
  const hold = await CellHold.take(one.charging, payer, nj(1000n * MJ))
  assert.ok(hold.covers(nj(3990n * MJ)))
  await assert.rejects(ask(two, payer), { code: 'balance_depleted' })
  assert.ok(hold.isWanted)
  hold.keep(nj(1000n * MJ))
  await ask(two, payer)
  assert.ok(hold.covers(nj(1000n * MJ)))
  hold.end()
})
