import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { nj, priceOf } from '#base/units.ts'
import { changeCredentials } from '#ledger/reference/tick.ts'
import { brokenInvariants, walletOf } from '#ledger/reference/books.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import type { OpenSpend } from './open-spend.ts'

const J = 1_000_000_000n
const FREE_TIER_NJ = 10n * J
const priceOfJoules = (joules: bigint) => joules * PUSD_PER_J
/** Claims a total of joules that a cell spent. */
const claim = (work: OpenSpend, joules: bigint) =>
  work.claim({ kind: 'cpu', cell: 'model', cpuNs: (joules * J * J) / NJ_PER_CPU_S + 1n })

test('a charge bills what was measured, once, and gives the rest of its hold back', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(1000n))
  const work = bench.charging.open()
  await work.admit(payer, 'chat.create', nj(20n * J))
  claim(work, 2n)
  const charge = work.settle(200)
  assert.equal(work.settle(500), charge)
  assert.equal(charge.energy_nj, (2n * J + 2n).toString())
  assert.equal(charge.charge_pusd, priceOf(nj(2n * J + 2n), PUSD_PER_J).toString())
  assert.equal(bench.leases.get('money:acct_1')?.held, 0n)
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.equal(
    walletOf(bench.books, 'money:acct_1').posted,
    priceOfJoules(1000n) - BigInt(charge.charge_pusd),
  )
  assert.deepEqual(brokenInvariants(bench.books), [])
})

test('a charge never bills more than was held, nor more than the stated ceiling', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(3n)), 'chat.create', nj(50n * J))
  claim(work, 40n)
  await once(work.cut, 'abort')
  assert.equal(work.cutReason?.code, 'balance_depleted')
  const charge = work.settle(200)
  assert.ok(BigInt(charge.charge_pusd) <= priceOfJoules(3n))
  assert.ok(BigInt(charge.charge_pusd) > priceOfJoules(2n), 'and it does use the hold up')

  const small = bench.charging.open()
  await small.admit(bench.payer('acct_2', priceOfJoules(1000n)), 'chat.create', nj(J))
  claim(small, 7n)
  assert.equal(small.cutReason?.code, 'ceiling_reached')
  assert.equal(small.settle(200).energy_nj, J.toString())
})

test('an operation that is answered unpaid is not cut where the wallet ends, and bills no more than it had', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(1n) / 10n)
  const work = bench.charging.open()
  await work.admit(payer, 'receipt.list', nj(2n * J))
  claim(work, 1n)
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.equal(work.cutReason, undefined)
  const charge = work.settle(200)
  assert.equal(charge.account, 'acct_1')
  assert.ok(BigInt(charge.charge_pusd) <= priceOfJoules(1n) / 10n)
})

test('a change that is answered unpaid where it suspends is cut where its body does not', async () => {
  await using bench = await openTestCharging()
  const begin = async (account: string) => {
    const work = bench.charging.open()
    await work.admit(bench.payer(account, priceOfJoules(1n) / 10n), 'database.update', nj(2n * J))
    claim(work, 1n)
    await bench.session.tickNow(AbortSignal.timeout(60_000))
    await bench.session.tickNow(AbortSignal.timeout(60_000))
    return work
  }
  const suspension = await begin('acct_1')
  assert.equal(suspension.cutReason, undefined)
  suspension.settle(200)
  const resize = await begin('acct_2')
  resize.cutWhereUnpaid()
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.equal(resize.cutReason?.code, 'balance_depleted')
  resize.settle(402)
})

test('CPU of this process beyond the ceiling cuts nobody, and is not billed', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(10n * J))
  claim(work, 4n)
  for (let time = 0; time < 3; time++) {
    bench.spendCpu(2.5 * 10 ** 9)
    work.mark()
    await bench.session.tickNow(AbortSignal.timeout(60_000))
  }
  const cutBy = () => work.cutReason?.code
  assert.ok(work.measured() > 30n * J)
  assert.equal(cutBy(), undefined)
  claim(work, 9n)
  assert.equal(cutBy(), undefined)
  claim(work, 10n)
  assert.equal(cutBy(), 'ceiling_reached')
  assert.equal(work.settle(200).energy_nj, (10n * J).toString())
})

test('CPU of this process cuts at four times the ceiling: so much is no noise', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(10n * J))
  // 39 J, and then one more.
  bench.spendCpu(Math.floor((39 / 3.5) * 1e9))
  work.mark()
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  const cutBy = () => work.cutReason?.code
  assert.equal(cutBy(), undefined)
  bench.spendCpu(Math.ceil(1e9 / 3.5) + 1)
  work.mark()
  assert.equal(cutBy(), 'ceiling_reached')
  assert.equal(work.settle(402).energy_nj, (10n * J).toString())
})

test('a hold grows with claims and with marks as far as the ceiling', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(60n * J))
  const held = () => bench.leases.get('money:acct_1')?.held ?? 0n
  const first = held()
  claim(work, 4n)
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.ok(held() > first)
  bench.spendCpu(4 * 10 ** 9)
  work.mark()
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.ok(held() > priceOfJoules(20n))
  claim(work, 40n)
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.ok(held() <= priceOfJoules(60n))
  assert.equal(work.cutReason, undefined)
  assert.ok(BigInt(work.settle(200).energy_nj) >= 54n * J)
})

test('admit() is synchronous once the lease is warm', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(1000n))
  const first = bench.charging.open()
  assert.ok((await first.admit(payer, 'chat.create', LEAST_HOLD_NJ)) === undefined)
  first.settle(200)
  const second = bench.charging.open()
  assert.equal(second.admit(payer, 'chat.create', LEAST_HOLD_NJ), undefined)
  second.settle(200)
})

test('an empty balance is 402, a used-up free tier 429', async () => {
  await using bench = await openTestCharging(LEAST_HOLD_NJ - 1n)
  const work = bench.charging.open()
  const paid = bench.payer('acct_1', 0n)
  await assert.rejects(async () => await work.admit(paid, 'chat.create', nj(J)), {
    status: 402,
    code: 'balance_depleted',
  })
  assert.equal(work.settle(402).account, 'nobody')
  const free = bench.charging.open()
  await assert.rejects(async () => await free.admit(bench.payer('acct_2'), 'chat.create', nj(J)), {
    status: 429,
    code: 'free_tier_exceeded',
  })
  free.settle(429)
})

test('a balance that is too little to be billed for admits nothing', async () => {
  await using bench = await openTestCharging()
  const least = (LEAST_HOLD_NJ * PUSD_PER_J) / J + 1n
  const work = bench.charging.open()
  const poor = bench.payer('acct_1', least - 1n)
  await assert.rejects(async () => await work.admit(poor, 'chat.create', nj(J)), { status: 402 })
  const just = bench.charging.open()
  await just.admit(bench.payer('acct_2', least), 'chat.create', nj(J))
  assert.equal(just.settle(200).account, 'acct_2')
})

test('the free tier bills no money and takes its energy from the wallet of the day', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1'), 'chat.create', nj(5n * J))
  claim(work, 1n)
  const charge = work.settle(200)
  assert.equal(charge.free, true)
  assert.equal(charge.charge_pusd, '0')
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  const day = [...bench.books.wallets.keys()].find((id) => id.startsWith('free:acct_1:'))
  assert.equal(walletOf(bench.books, day ?? '').posted, 10_000_000_000n - BigInt(charge.energy_nj))
})

test('the price of a charge is the one of its first admit', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(1000n))
  const work = bench.charging.open()
  await work.admit(payer, 'chat.create', LEAST_HOLD_NJ)
  bench.books.price = { ...bench.books.price, id: 'price_2', pusdPerJ: 10n * PUSD_PER_J }
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await work.admit(payer, 'chat.create', nj(10n * J))
  assert.equal(work.settle(200).price_id, 'price_1')
  const later = bench.charging.open()
  await later.admit(payer, 'chat.create', LEAST_HOLD_NJ)
  assert.equal(later.settle(200).price_id, 'price_2')
})

for (const [first, second] of [
  ['funded', 'free'],
  ['free', 'funded'],
]) {
  const payerOf = (bench: TestCharging, account: string, kind?: string) =>
    bench.payer(account, kind === 'funded' ? priceOfJoules(1000n) : undefined)
  const walletsOf = async (bench: TestCharging, account: string) => {
    await bench.session.tickNow(AbortSignal.timeout(60_000))
    assert.deepEqual(brokenInvariants(bench.books), [])
    const day = [...bench.books.wallets.keys()].find((id) => id.startsWith(`free:${account}:`))
    return {
      money: bench.books.wallets.get(`money:${account}`)?.posted ?? 0n,
      free: day === undefined ? FREE_TIER_NJ : walletOf(bench.books, day).posted,
    }
  }

  test(`the first payer of a work stays: a ${first} one, asked again for a ${second} one`, async () => {
    await using bench = await openTestCharging(FREE_TIER_NJ)
    const one = payerOf(bench, 'acct_1', first)
    const other = payerOf(bench, 'acct_2', second)
    const before = await walletsOf(bench, 'acct_2')
    const work = bench.charging.open()
    await work.admit(one, 'chat.create', nj(J))
    await work.admit(other, 'chat.create', nj(8n * J))
    claim(work, 4n)
    const charge = work.settle(200)
    assert.equal(charge.account, 'acct_1')
    assert.equal(charge.free, first === 'free')
    assert.ok(BigInt(charge.energy_nj) >= 4n * J, 'the cap is the later one')
    const after = await walletsOf(bench, 'acct_1')
    assert.deepEqual(after, {
      money: (first === 'free' ? 0n : priceOfJoules(1000n)) - BigInt(charge.charge_pusd),
      free: FREE_TIER_NJ - (first === 'free' ? BigInt(charge.energy_nj) : 0n),
    })
    assert.deepEqual(await walletsOf(bench, 'acct_2'), before)
  })

  test(`an account that becomes ${second} while its work runs pays as a ${first} one`, async () => {
    await using bench = await openTestCharging(FREE_TIER_NJ)
    const payer = payerOf(bench, 'acct_1', first)
    const work = bench.charging.open()
    await work.admit(payer, 'chat.create', nj(J))
    await work.admit(payerOf(bench, 'acct_1', second), 'chat.create', nj(8n * J))
    claim(work, 4n)
    const charge = work.settle(200)
    assert.equal(charge.free, first === 'free')
    const { free } = await walletsOf(bench, 'acct_1')
    assert.equal(FREE_TIER_NJ - free, first === 'free' ? BigInt(charge.energy_nj) : 0n)
  })
}

test('a revoked token cuts what runs under it, and nothing else', async () => {
  await using bench = await openTestCharging()
  const one = bench.charging.open()
  const other = bench.charging.open()
  await one.admit(bench.payer('acct_1', priceOfJoules(100n)), 'chat.create', nj(5n * J))
  await other.admit(bench.payer('acct_2', priceOfJoules(100n)), 'chat.create', nj(5n * J))
  changeCredentials(bench.books, 'tok_acct_1', 'acct_1')
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.equal(one.cutReason?.code, 'token_revoked')
  assert.equal(other.cutReason, undefined)
  one.settle(401)
  other.settle(200)
})

test('a cold admit without an answer of the ledger is 503', async () => {
  await using bench = await openTestCharging()
  bench.answers = false
  const work = bench.charging.open()
  await assert.rejects(
    async () => await work.admit(bench.payer('acct_1', priceOfJoules(9n)), 'chat.create', nj(J)),
    { status: 503, code: 'state_unavailable' },
  )
  work.settle(503)
})

test('while the books are halted nobody is billed, and the free tier goes on', async () => {
  await using bench = await openTestCharging()
  bench.books.halted = true
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  const work = bench.charging.open()
  const paid = bench.payer('acct_1', priceOfJoules(9n))
  assert.throws(() => void work.admit(paid, 'chat.create', nj(J)), {
    status: 503,
    code: 'state_unavailable',
  })
  work.settle(503)
  const free = bench.charging.open()
  await free.admit(bench.payer('acct_2'), 'chat.create', nj(J))
  assert.equal(free.settle(200).account, 'acct_2')
})

test('many works on a small balance never take more than there is', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(30n))
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const work = bench.charging.open()
      try {
        await work.admit(payer, 'chat.create', nj(10n * J))
        for (let joules = 1n; joules <= 8n && work.cutReason === undefined; joules++) {
          claim(work, joules)
          await bench.session.tickNow(AbortSignal.timeout(60_000))
        }
      } catch (error) {
        assert.equal((error as { status: number }).status, 402)
      }
      return BigInt(work.settle(index % 2 === 0 ? 200 : 402).charge_pusd)
    }),
  )
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  const spent = outcomes.reduce((sum, one) => sum + one, 0n)
  assert.ok(
    spent <= priceOfJoules(30n) && spent > priceOfJoules(25n),
    `${spent} of ${priceOfJoules(30n)}`,
  )
  assert.deepEqual(bench.books.alarms, [])
  assert.deepEqual(brokenInvariants(bench.books), [])
})

test('work that ends while it waits for the ledger takes nothing afterwards', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(10_000n))
  const tick = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  const held = () => bench.leases.get('money:acct_1')?.held
  const refused = bench.charging.open()
  const admitted = refused.admit(payer, 'chat.create', nj(20n * J))
  assert.ok(admitted instanceof Promise)
  refused.settle(499)
  await admitted
  await tick()
  assert.equal(held(), 0n)

  const dropped = bench.charging.open()
  await dropped.admit(payer, 'chat.create', nj(5000n * J))
  // More than the lease has: it asks for more.
  claim(dropped, 1000n)
  assert.notEqual(held(), 0n)
  dropped.drop()
  await tick()
  assert.equal(held(), 0n)
  assert.deepEqual(brokenInvariants(bench.books), [])
})

test('estimate() names the method of the widest band: of the node, or of the upstream that is asked', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(20n * J))
  const node = work.estimate().energyMethod
  for (const [upstream, told] of [
    [{ method: 'declared', bandPct: 100 }, 'declared; band=100%'],
    [{ method: 'declared', bandPct: 1 }, node],
    // Fallen back to a cell of ours.
    [undefined, node],
  ] as const) {
    work.served({ upstream })
    assert.equal(work.estimate().energyMethod, told)
  }
  work.settle(200)
})
