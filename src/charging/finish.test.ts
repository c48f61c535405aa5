// Work whose answer is there at once: what it took is billed, held or not yet, and never more than that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj, priceOf } from '#base/units.ts'
import { chargeBytes, parseCharge } from '#contract/ledger/charge.ts'
import { brokenInvariants, walletOf } from '#ledger/reference/books.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import type { Claim } from './spend.ts'

const J = 1_000_000_000n
const priceOfJoules = (joules: bigint) => joules * PUSD_PER_J
const upstream = (joules: bigint): Claim => ({
  kind: 'upstream',
  meter: 'upstream:up',
  method: 'model',
  bandPct: 100,
  energyNj: nj(joules * J),
})
const settleBooks = async (bench: TestCharging) => {
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.equal(bench.leases.get('money:acct_1')?.held ?? 0n, 0n)
  assert.deepEqual(bench.books.alarms, [])
  assert.deepEqual(brokenInvariants(bench.books), [])
}

test('a whole answer is billed what it took, however small its hold still is', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(100_000n))
  const charges = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const work = bench.charging.open()
      await work.admit(payer, 'chat.create', nj(2_000n * J))
      await work.finish(upstream(600n))
      assert.equal(work.cutReason, undefined)
      return work.settle(200)
    }),
  )
  for (const charge of charges)
    assert.equal(charge.charge_pusd, priceOf(nj(600n * J), PUSD_PER_J).toString())
  await settleBooks(bench)
})

test('a whole answer beyond its ceiling is billed the ceiling, and not cut', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(20n * J))
  await work.finish(upstream(23n))
  // Writing the reply takes CPU too.
  bench.spendCpu(4 * 10 ** 9)
  work.mark()
  assert.equal(work.cutReason, undefined)
  assert.equal(work.measured(), 23n * J + 4n * NJ_PER_CPU_S)
  assert.equal(work.settle(200).energy_nj, (20n * J).toString())
  await settleBooks(bench)
})

test('a whole answer takes what is left of a balance, and the rest is the operator’s', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(7n)), 'chat.create', nj(50n * J))
  await work.finish(upstream(30n))
  // Refused once: what comes after it is not asked for again.
  assert.equal(work.finish(upstream(31n)), undefined)
  assert.equal(work.cutReason, undefined)
  assert.equal(work.settle(200).charge_pusd, priceOfJoules(7n).toString())
  await settleBooks(bench)
  assert.equal(walletOf(bench.books, 'money:acct_1').posted, 0n)
})

test('a whole answer waits for a silent ledger once, and is billed what it holds', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(5000n)), 'chat.create', nj(2_000n * J))
  const held = bench.leases.get('money:acct_1')?.held ?? 0n
  bench.answers = false
  await work.finish(upstream(600n))
  assert.equal(work.finish(upstream(601n)), undefined)
  const charge = work.settle(200)
  assert.ok(BigInt(charge.charge_pusd) <= held, `${charge.charge_pusd} of ${held}`)
  bench.answers = true
  await settleBooks(bench)
})

test('a caller that cannot hold the cost of asking is not admitted, and pays nothing', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', priceOfJoules(300n))
  const work = bench.charging.open()
  await assert.rejects(
    async () => await work.admit(payer, 'chat.create', nj(2_000n * J), nj(301n * J)),
    { status: 402, code: 'balance_depleted' },
  )
  assert.equal(work.settle(402).energy_nj, '0')
  const other = bench.charging.open()
  await other.admit(payer, 'chat.create', nj(2_000n * J), nj(299n * J))
  const held = bench.leases.get('money:acct_1')?.held ?? 0n
  assert.ok(held >= priceOfJoules(299n), String(held))
  other.settle(200)
  await settleBooks(bench)
})

test('CPU of cells that is absorbed is a charge of nobody too', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(100n * J))
  const cell = (seconds: bigint): Claim => ({ kind: 'cpu', cell: 'a', cpuNs: seconds * 10n ** 9n })
  work.claim(cell(3n))
  work.claim(upstream(2n))
  work.absorb()
  work.claim(cell(1n))
  const before = bench.charging.billed()
  assert.deepEqual(before, { chargedNs: 4n * 10n ** 9n, accruedNj: 4n * NJ_PER_CPU_S })
  const charge = work.settle(200)
  assert.equal(charge.energy_nj, NJ_PER_CPU_S.toString())
  assert.deepEqual(bench.charging.billed(), before)
  await settleBooks(bench)
  assert.deepEqual(
    bench.books.charges.map(({ account, energyNj }) => [account, energyNj]),
    [
      ['acct_1', NJ_PER_CPU_S],
      ['nobody', 3n * NJ_PER_CPU_S + 2n * J],
    ],
  )
})

test('absorbed energy is a charge of nobody beside that of the work, and the books hold', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(100n * J))
  work.absorb()
  work.claim(upstream(3n))
  work.absorb()
  work.served({ promptTokens: 4, completionTokens: 5 })
  work.claim(upstream(4n))
  work.absorb()
  work.claim(upstream(1n))
  bench.spendCpu(10 ** 9)
  const charge = work.settle(502)
  const upstreamPart = { band_pct: '100', meter: 'upstream:up', method: 'model' }
  const ownNj = NJ_PER_CPU_S.toString()
  assert.deepEqual(charge.parts, [
    { band_pct: '30', energy_nj: ownNj, meter: 'm1', method: 'model' },
    { ...upstreamPart, energy_nj: J.toString() },
  ])
  assert.equal(charge.completion_tokens, undefined)
  work.absorb()
  await settleBooks(bench)
  assert.deepEqual(
    bench.books.charges.map(({ account, energyNj }) => [account, energyNj]),
    [
      ['acct_1', BigInt(charge.energy_nj)],
      ['nobody', 7n * J],
    ],
  )
})

test('energy that was spent elsewhere has the carbon of there', async () => {
  await using bench = await openTestCharging()
  const work = bench.charging.open()
  await work.admit(bench.payer('acct_1', priceOfJoules(1000n)), 'chat.create', nj(100n * J))
  const factor = { zone: 'XX', mg_per_kwh: '900000', source: 's', year: '2025', basis: 'b' }
  work.served({ upstream: { method: 'model', bandPct: 100, factor } })
  assert.equal(work.estimate().factor, factor, 'the greater of both, as it is a ceiling')
  const used = upstream(18n)
  assert.ok(used.kind === 'upstream')
  bench.spendCpu(10 ** 9)
  work.mark()
  await work.finish({ ...used, factor })
  const charge = work.settle(200)
  assert.deepEqual(charge.parts[1]?.factor, factor)
  assert.deepEqual([charge.parts[0]?.factor, charge.factor.zone], [undefined, 'WORLD'])
  // 3.5 J at 473 g/kWh, and 18 J at 900 g/kWh, in picograms.
  assert.equal(charge.carbon_pg, (459_861_111n + 4_500_000_000n).toString())
  assert.deepEqual(parseCharge(chargeBytes(charge)), charge)
  await settleBooks(bench)
})
