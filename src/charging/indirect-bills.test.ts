// The learned part of a single bill: its limits, its band and its place on the charge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { energyOfCpu, nj } from '#base/units.ts'
import { chargeBytes, directEnergy, LEARNED, parseCharge } from '#contract/ledger/charge.ts'
import { NO_RATES } from '#contract/ledger/indirect-rates.ts'
import { NJ_PER_CPU_S, openTestCharging } from './charging.fixture.ts'
import { rateOf, testTariff } from './indirect.fixture.ts'
import { IndirectBills } from './indirect.ts'

const once = (ownNs: number) => ({ ownNs, units: 0, takenNs: 0n })
const SESSION = 'gw-1.1'

test('a share that cannot be told from nothing is not billed, and no band says so', () => {
  const bills = new IndirectBills({ monotonicMs: () => 0 }, SESSION)
  const billOf = (deviation: number) => {
    const operations = { 'model.list': rateOf(1e6, deviation) }
    const indirect = { ...NO_RATES, operations, allowedNs: { [SESSION]: 1e12 } }
    const { cpuNs, bandPct } = bills.of(testTariff({ indirect }), 'model.list', once(0))
    return [cpuNs, bandPct]
  }
  assert.deepEqual(billOf(1e6), [500_000n, 100])
  assert.deepEqual(billOf(1e6 + 1), [0n, 40])
})

test('no session bills more than it is allowed, nor what another is allowed', () => {
  const bills = new IndirectBills({ monotonicMs: () => 0 }, 'gw-1.1')
  const rate = rateOf(4_000_000)
  const allow = (allowedNs: Record<string, number>) =>
    testTariff({
      indirect: {
        levelMilli: 1000,
        activeSecond: { value: 0, deviation: 0 },
        operations: { 'model.list': rate },
        rest: rate,
        allowedNs,
      },
    })
  const settle = (tariff: ReturnType<typeof testTariff>) => {
    const bill = bills.of(tariff, 'model.list', once(0))
    bills.settled('model.list', bill, bill.cpuNs)
    return bill.cpuNs
  }
  const tariff = allow({ 'gw-1.1': 10_000_000, 'gw-2.1': 1e12 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => settle(tariff)),
    [4_000_000n, 4_000_000n, 2_000_000n, 0n],
  )
  assert.equal(settle(allow({ 'gw-2.1': 1e12 })), 0n)
  // The allowance is a total: figures that arrive late allow nothing twice.
  assert.equal(settle(allow({ 'gw-1.1': 11_000_000 })), 1_000_000n)
})

test('requests of a second share its cost, which is billed once', () => {
  let nowMs = 0
  const bills = new IndirectBills({ monotonicMs: () => nowMs }, 'gw-1.1')
  const rate = (value: number) => ({ value, deviation: 0 })
  const tariff = testTariff({
    indirect: {
      levelMilli: 1000,
      activeSecond: rate(50_000_000),
      operations: { 'model.list': rateOf(1_000_000) },
      rest: rate(0),
      allowedNs: { 'gw-1.1': 1e12 },
    },
  })
  const settle = () => {
    const bill = bills.of(tariff, 'model.list', once(0))
    assert.ok(bill.cpuNs <= bills.ceilingNs(tariff, 'model.list', once(0)))
    bills.settled('model.list', bill, bill.cpuNs)
    return bill.cpuNs
  }
  assert.equal(settle(), 51_000_000n)
  assert.equal(settle(), 1_000_000n)
  let billed = 0n
  for (let second = 1; second <= 100; second++)
    for (let request = 0; request < 20; request++) {
      nowMs = second * 1000 + request * 50
      billed += settle()
    }
  assert.ok(billed <= 102n * 50_000_000n + 2000n * 1_000_000n, String(billed))
  assert.ok(billed > 95n * 50_000_000n + 2000n * 1_000_000n, String(billed))
  assert.equal(bills.activity.activeSeconds, 101)
})

test('32 batches at once bill a second ahead of what the agent has seen, the debt included', () => {
  const bills = new IndirectBills({ monotonicMs: () => 0 }, SESSION)
  const operation = 'storage.delete-objects'
  /** All of them bill a statement of a second. */
  const billedMs = (allowedNs: number, seenAheadNs: number) => {
    const operations = { [operation]: rateOf(1e6), [`${operation} unit`]: rateOf(1e6) }
    const totals = { allowedNs: { [SESSION]: allowedNs }, seenAheadNs: { [SESSION]: seenAheadNs } }
    const tariff = testTariff({ indirect: { ...NO_RATES, operations, ...totals } })
    const done = { count: 1000, elapsedMs: 1000 }
    let sum = 0n
    for (let client = 0; client < 32; client++)
      sum += bills.grow(tariff, operation, done, { ownNs: 0, units: 1000, takenNs: 0n })
    return Number(sum) / 1e6
  }
  assert.equal(billedMs(0, 0), 1000)
  assert.equal(billedMs(0, 0), 0)
  assert.equal(billedMs(0, 700e6), 700)
  // A debt of 400 ms.
  assert.equal(billedMs(-400e6, 1700e6), 600)
  assert.equal(billedMs(-2000e6, 2300e6), 0)
})

test('the part is on the charge, within the hold, and follows from the charge’s own bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt(1n, 3_000_000_000n),
      fc.nat(2_000_000_000),
      async (funds, learnedNs) => {
        await using bench = await openTestCharging()
        const indirect = {
          levelMilli: 1000,
          activeSecond: { value: 0, deviation: 0 },
          operations: { 'model.list': rateOf(learnedNs, learnedNs / 20) },
          rest: { value: 0, deviation: 0 },
          allowedNs: { [bench.session.id]: 1e12 },
        }
        const body = bench.books.tariffs.get('m1') as object
        bench.books.tariffs.set('m1', { ...body, indirect })
        await bench.session.tickNow(AbortSignal.timeout(60_000))
        const work = bench.charging.open()
        try {
          await work.admit(bench.payer('acct_1', funds), 'model.list', nj(1_000_000_000n))
        } catch {
          return
        } finally {
          if (work.cutReason !== undefined) work.settle(402)
        }
        const { held } = bench.leases.get('money:acct_1') ?? { held: 0n }
        bench.spendCpu(1_000_000)
        const charge = work.settle(200)
        parseCharge(chargeBytes(charge))
        assert.ok(BigInt(charge.charge_pusd) <= held)
        const learned = charge.parts.filter(({ method }) => method === LEARNED)
        // Half a deviation below the value.
        const leastNs = BigInt(Math.floor(learnedNs - learnedNs / 40))
        const wanted = energyOfCpu(leastNs, NJ_PER_CPU_S)
        const billed = learned.reduce((sum, part) => sum + BigInt(part.energy_nj), 0n)
        assert.ok(billed <= wanted)
        assert.equal(BigInt(charge.energy_nj) - billed, directEnergy(charge))
        // In the totals that are compared with the meter to the last nanojoule.
        assert.equal(bench.charging.billed().accruedNj, BigInt(charge.energy_nj))
        assert.equal(bench.charging.activity.indirectNs, leastNs)
      },
    ),
    { numRuns: 20 },
  )
})

test('a ceiling that is raised has what the work causes elsewhere once', async () => {
  await using bench = await openTestCharging()
  const learnedNs = 2_000_000_000
  const indirect = { ...NO_RATES, operations: { 'model.list': rateOf(learnedNs) } }
  const body = bench.books.tariffs.get('m1') as object
  bench.books.tariffs.set('m1', { ...body, indirect })
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  const work = bench.charging.open()
  const payer = bench.payer('acct_1', 10_000_000_000n)
  const elsewhere = energyOfCpu(BigInt(learnedNs), NJ_PER_CPU_S)
  for (const ceiling of [1_000_000_000n, 3_000_000_000n]) {
    await work.admit(
      payer,
      'model.list',
      nj(work.isPaid ? work.ceilingNj + 2_000_000_000n : ceiling),
    )
    assert.equal(work.estimate().ceilingNj, ceiling + elsewhere)
  }
  work.settle(200)
})
