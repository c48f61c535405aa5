// A hold rests on the wallet that pays and on each budget that limits, all or none. No charge takes from one without
// the other, no charge exceeds a budget, and a refusal names the wallet or budget that refused and holds nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ErgonError } from '#base/errors.ts'
import { energyFor, nj, pusd } from '#base/units.ts'
import { chargeEnergy, parseCharge } from '#contract/ledger/charge.ts'
import type { OperationName } from '#contract/operations.ts'
import { brokenInvariants, walletOf } from '#ledger/reference/books.ts'
import { budgetDay, setBudget } from '#ledger/reference/budgets.ts'
import { openTestCharging, PUSD_PER_J, type TestCharging } from './charging.fixture.ts'
import type { Payer } from './spend.ts'

const J = 1_000_000_000n
const KNOWN = { method: 'model', bandPct: 40 } as const

/** An account with money for so many joules, and budgets of so many. */
function limited(bench: TestCharging, funds: bigint, budgets: readonly bigint[]): Payer {
  const payer = bench.payer('acct_1', funds * PUSD_PER_J)
  for (const [place, joules] of budgets.entries())
    setBudget(bench.books, { id: `b${place}`, account: 'acct_1', njPerDay: joules * J }, Date.now())
  return { ...payer, budgets: budgets.map((_, place) => `b${place}`) }
}

const atRest = async (bench: TestCharging) => {
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.deepEqual(bench.books.alarms, [])
  assert.deepEqual(brokenInvariants(bench.books), [])
}

const walletOfBudget = (place: number) => budgetDay(`b${place}`, Date.now())

/** The rest of a wallet. */
const leftOf = (bench: TestCharging, wallet: string): bigint | undefined =>
  bench.books.wallets.get(wallet)?.posted

const spends = fc.array(
  fc.record({
    ceiling: fc.bigInt(1n, 40n),
    used: fc.bigInt(0n, 50n),
    drops: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

type Spent = readonly { readonly ceiling: bigint; readonly used: bigint; readonly drops: boolean }[]

/** Spends, and compares the books with the charges. */
async function play(
  { funds, budgets, all }: { funds: bigint; budgets: readonly bigint[]; all: Spent },
  change: (payer: Payer) => Payer = (payer) => payer,
): Promise<void> {
  await using bench = await openTestCharging()
  const payer = change(limited(bench, funds, budgets))
  for (const { ceiling, used, drops } of all) {
    const work = bench.charging.open()
    try {
      await work.admit(payer, 'chat.create', nj(ceiling * J))
      await work.finish({ kind: 'cpu', cell: 'a', cpuNs: (used * 10n ** 9n) / 4n })
    } catch (error) {
      assert.ok(error instanceof ErgonError)
      assert.match(error.code, /^(balance_depleted|budget_exhausted)$/)
    }
    if (drops) work.drop()
    else work.settle(200)
  }
  await atRest(bench)
  for (const wallet of ['money:acct_1', ...budgets.map((_, place) => `budget:b${place}`)])
    assert.equal(bench.leases.get(wallet)?.held ?? 0n, 0n, `${wallet} is held`)
  const charges = [...bench.books.records.values()]
    .flat()
    .map((text) => parseCharge(Buffer.from(text)))
    .filter(({ account }) => account === 'acct_1')
  const energy = charges.reduce((sum, charge) => sum + BigInt(charge.energy_nj), 0n)
  const cost = charges.reduce((sum, charge) => sum + BigInt(charge.charge_pusd), 0n)
  assert.equal(funds * PUSD_PER_J - (leftOf(bench, 'money:acct_1') ?? 0n), cost)
  for (const [place, joules] of budgets.entries())
    assert.equal(
      joules * J - (leftOf(bench, walletOfBudget(place)) ?? joules * J),
      energy,
      `budget ${place}`,
    )
}

const worlds = fc.record({
  funds: fc.bigInt(1n, 200n),
  budgets: fc.array(fc.bigInt(0n, 150n), { minLength: 1, maxLength: 3 }),
  all: spends,
})

test('each charge takes its energy of the wallet and of every budget, and never more than one of them has', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, (world) => play(world)),
    { numRuns: 25 },
  )
})

test('planted: a hold that leaves out a budget is found', async () => {
  const all = [{ ceiling: 10n, used: 8n, drops: false }]
  const leavesOut = (payer: Payer): Payer => ({ ...payer, budgets: payer.budgets?.slice(1) ?? [] })
  await play({ funds: 100n, budgets: [50n, 50n], all })
  await assert.rejects(play({ funds: 100n, budgets: [50n, 50n], all }, leavesOut), {
    message: /budget 0/,
  })
})

test('a revocation of a token goes on where the budget of that token ends in its middle', async () => {
  await using bench = await openTestCharging()
  const cutBy = async (operation: 'token.revoke' | 'chat.create') => {
    const work = bench.charging.open()
    await work.admit(limited(bench, 1000n, [1n]), operation, nj(2n * J))
    work.claim({ kind: 'cpu', cell: 'a', cpuNs: 4n * 10n ** 8n })
    await bench.session.tickNow(AbortSignal.timeout(60_000))
    await bench.session.tickNow(AbortSignal.timeout(60_000))
    const code = work.cutReason?.code
    work.settle(200)
    await atRest(bench)
    return code
  }
  assert.equal(await cutBy('token.revoke'), undefined)
  assert.equal(
    await cutBy('chat.create').catch((error: ErgonError) => error.code),
    'budget_exhausted',
  )
})

test('a budget that is used up refuses by its name, and nothing of the wallet is held', async () => {
  await using bench = await openTestCharging()
  const payer = limited(bench, 1000n, [500n, 0n])
  const work = bench.charging.open()
  await assert.rejects(async () => await work.admit(payer, 'chat.create', nj(J)), {
    code: 'budget_exhausted',
    status: 429,
    message: /: b1$/,
  })
  assert.equal(work.settle(429).account, 'nobody')
  for (const wallet of ['money:acct_1', 'budget:b0'])
    assert.equal(bench.leases.get(wallet)?.held ?? 0n, 0n)
  await atRest(bench)
})

test('work that uses up a budget is cut with its name, and billed what the budget had', async () => {
  await using bench = await openTestCharging()
  const payer = limited(bench, 1000n, [7n])
  const work = bench.charging.open()
  await work.admit(payer, 'chat.create', nj(100n * J))
  for (let cpuS = 1n; work.cutReason === undefined; cpuS++) {
    work.claim({ kind: 'cpu', cell: 'a', cpuNs: cpuS * 10n ** 9n })
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(work.cutReason.code, 'budget_exhausted')
  assert.equal(work.settle(429).energy_nj, String(7n * J))
  await atRest(bench)
  assert.equal(walletOf(bench.books, walletOfBudget(0)).posted, 0n)
})

test('an empty wallet refuses as ever, however much the budgets have', async () => {
  await using bench = await openTestCharging()
  const payer = { ...limited(bench, 1n, [500n]), account: 'acct_none' }
  const work = bench.charging.open()
  await assert.rejects(async () => await work.admit(payer, 'chat.create', nj(J)), {
    code: 'balance_depleted',
  })
  work.drop()
})

test('a budget counts what was charged on its day without it, before and while it was set', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', 1000n * PUSD_PER_J)
  const begin = async (operation: OperationName, joules: bigint) => {
    const work = bench.charging.open()
    await work.admit(payer, operation, nj(joules * J))
    await work.fill()
    work.served({ resource: 'database:db_1' })
    work.claim({ kind: 'upstream', meter: 'm1', energyNj: nj(joules * J), ...KNOWN })
    return () => work.settle(200)
  }
  const before = await begin('database.session', 3n)
  const beside = await begin('database.backup', 100n)
  const underWay = await begin('database.session', 2n)
  before()
  beside()
  await atRest(bench)
  const operations = ['database.session']
  setBudget(
    bench.books,
    { id: 'db_1', account: 'acct_1', njPerDay: 10n * J, operations },
    Date.now(),
  )
  const wallet = budgetDay('db_1', Date.now())
  assert.equal(leftOf(bench, wallet), 7n * J)
  underWay()
  await atRest(bench)
  const work = bench.charging.open()
  await work.admit({ ...payer, budgets: ['db_1'] }, 'database.session', nj(100n * J), nj(5n * J))
  assert.deepEqual([await work.fill(nj(5n * J)), await work.fill(nj(6n * J))], [true, false])
  assert.equal(leftOf(bench, wallet), 5n * J)
  work.drop()
})

test('a wallet and a budget that end within one pico-dollar are taken to their end', async () => {
  await using bench = await openTestCharging()
  const owner = bench.payer('acct_1', PUSD_PER_J)
  // The price of this energy, rounded up, is more than the wallet has; what is billed is rounded down.
  const njPerDay = nj(energyFor(pusd(PUSD_PER_J), PUSD_PER_J) - 1n)
  setBudget(bench.books, { id: 'b0', account: 'acct_1', njPerDay }, Date.now())
  const work = bench.charging.open()
  await work.admit({ ...owner, budgets: ['b0'] }, 'chat.create', nj(10n * J))
  assert.equal(await work.fill(), false)
  work.claim({ kind: 'upstream', meter: 'm2', ...KNOWN, energyNj: njPerDay })
  assert.equal(chargeEnergy(work.settle(200)), njPerDay)
  await atRest(bench)
  assert.deepEqual([leftOf(bench, walletOfBudget(0)), leftOf(bench, 'money:acct_1')], [0n, 0n])
})
