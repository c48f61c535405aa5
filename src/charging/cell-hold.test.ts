// Cells that are charged out of holds: whatever they use, no charge passes the wallet or the budget. The use that a
// hold covered is charged whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLogger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { chargeEnergy, parseCharge } from '#contract/ledger/charge.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import { budgetDay, setBudget } from '#ledger/reference/budgets.ts'
import type { MeterWindow } from '#metering/window.ts'
import { CellHold, type CellPayer } from './cell-hold.ts'
import { createCellMinutes } from './cell-minutes.ts'
import { openTestCharging, PUSD_PER_J, type TestCharging } from './charging.fixture.ts'

const J = 1_000_000_000n
const CELL = 'db-1'
const log = createLogger('test', { level: 'error', write: () => {} })
const UNPAYABLE = /^(balance_depleted|budget_exhausted)$/

const windowAt = (k: number, energyNj: bigint): MeterWindow => ({
  meter: 'm1',
  k,
  elapsedNs: J,
  busyNs: 0n,
  readingNj: nj(energyNj),
  idleNj: nj(0n),
  method: 'model',
  bandPct: 40,
  pueMilli: 1000n,
  njPerCpuS: 0n,
  chargedNs: 0n,
  accruedNj: nj(0n),
  tariffNjPerCpuS: 0n,
  shares: [
    {
      name: CELL,
      payer: { kind: 'account', account: 'acct_1' },
      cpuNs: 0n,
      dynamicNj: nj(energyNj),
      idleNj: nj(0n),
    },
  ],
})

const chargesOf = (bench: TestCharging) =>
  [...bench.books.records.values()]
    .flat()
    .filter((text) => text.includes('"operation":"cell.standing"'))
    .map((text) => parseCharge(Buffer.from(text)))

type World = {
  readonly funds: bigint
  readonly perDay: bigint
  /** The use of each window in joules; the guard looks ahead so far, and a liar uses more than it said. */
  readonly uses: readonly { readonly joules: bigint; readonly lie: bigint }[]
  readonly startK: number
}

/** A cell that stops when it is not covered; resolves with the energy that it used. */
async function play(
  { funds, perDay, uses, startK }: World,
  payerOf: (payer: CellPayer) => CellPayer = (payer) => payer,
): Promise<void> {
  await using bench = await openTestCharging()
  const owner = bench.payer('acct_1', funds * PUSD_PER_J)
  setBudget(bench.books, { id: 'db_1', account: 'acct_1', njPerDay: perDay * J }, Date.now())
  const payer = payerOf({ ...owner, budgets: ['db_1'] })
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  try {
    holds.set(CELL, await CellHold.take(bench.charging, payer, nj(J)))
  } catch (error) {
    assert.match((error as { code: string }).code, UNPAYABLE)
    assert.ok(funds < 1n || perDay < 1n)
    return
  }
  let used = 0n
  let lied = 0n
  let k = startK
  for (const { joules, lie } of uses) {
    const hold = holds.get(CELL)
    assert.ok(hold !== undefined)
    await hold.fill(nj(joules * J))
    if (!hold.covers(nj(joules * J))) {
      assert.match(hold.refusal.code, UNPAYABLE)
      break
    }
    used += joules * J
    lied += lie * J
    minutes.add(windowAt(++k, (joules + lie) * J))
    await minutes.charge('over')
    await bench.session.tickNow(AbortSignal.timeout(60_000))
  }
  await minutes.charge('all')
  for (const hold of holds.values()) hold.end()
  for (let ticks = 0; ticks < 2; ticks++) await bench.session.tickNow(AbortSignal.timeout(60_000))
  const charged = chargesOf(bench).reduce((sum, charge) => sum + chargeEnergy(charge), 0n)
  assert.ok(charged <= perDay * J, 'charged above the budget')
  const cost = chargesOf(bench).reduce((sum, charge) => sum + BigInt(charge.charge_pusd), 0n)
  assert.ok(cost <= funds * PUSD_PER_J, 'charged above the funds')
  assert.ok(charged <= used + lied)
  if (lied === 0n) assert.equal(charged, used, 'what is covered is charged whole')
  const left = bench.books.wallets.get(budgetDay('db_1', Date.now()))?.posted
  assert.equal(perDay * J - (left ?? perDay * J), charged, 'the budget has what is not charged')
  assert.deepEqual(brokenInvariants(bench.books), [])
  assert.deepEqual(bench.books.alarms, [])
}

const worlds = fc.record({
  funds: fc.bigInt(1n, 400n),
  perDay: fc.bigInt(1n, 400n),
  uses: fc.array(
    fc.record({
      joules: fc.bigInt(0n, 20n),
      lie: fc.oneof({ weight: 9, arbitrary: fc.constant(0n) }, fc.bigInt(1n, 100n)),
    }),
    { minLength: 1, maxLength: 90 },
  ),
  startK: fc.integer({ min: 1000, max: 1059 }),
})

test('a cell under a hold is charged whole, and never above its wallet or its budget', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, (world) => play(world)),
    { numRuns: 15 },
  )
})

const BUSY: World = {
  funds: 300n,
  perDay: 50n,
  uses: Array.from({ length: 70 }, () => ({ joules: 3n, lie: 0n })),
  startK: 1000,
}

test('planted: a budget that is not in the hold is found', async () => {
  await play(BUSY)
  await assert.rejects(
    play(BUSY, (payer) => ({ ...payer, budgets: [] })),
    { message: /above the budget/ },
  )
})

test('a hold of more than there is takes nothing, and says what is used up', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', 3n * PUSD_PER_J)
  await assert.rejects(CellHold.take(bench.charging, payer, nj(4n * J)), {
    code: 'balance_depleted',
  })
  const hold = await CellHold.take(bench.charging, payer, nj(J))
  assert.deepEqual([hold.covers(nj(3n * J)), hold.covers(nj(3n * J + J / 100n))], [true, false])
  assert.equal(hold.refusal.code, 'balance_depleted')
  hold.end()
  assert.equal(bench.leases.get('money:acct_1')?.held, 0n)
})

test('while another budget comes into force, what was held before is covered and nothing is held', async () => {
  await using bench = await openTestCharging()
  const hold = await CellHold.take(bench.charging, bench.payer('acct_1', 9n * PUSD_PER_J), nj(J))
  await hold.fill(nj(6n * J))
  hold.measured(nj(2n * J), Date.now())
  const covered = () => [4n, 3n, 1n, 0n].filter((joules) => hold.covers(nj(joules * J)))
  hold.release(hold.payer, () => assert.deepEqual(covered(), [4n, 3n, 1n, 0n]))
  assert.equal(bench.leases.get('money:acct_1')?.held, 0n)
  assert.equal(hold.covers(nj(5n * J)), false)
  hold.measured(nj(J), Date.now())
  assert.deepEqual(covered(), [3n, 1n, 0n])
  hold.release({ ...hold.payer, funded: false, budgets: ['none'] }, () => undefined)
  assert.deepEqual(covered(), [], 'a change right after another one')
  await hold.regain()
  assert.deepEqual(covered(), [])
  hold.end()
})

test('energy that a charge took is not held a second time', async () => {
  await using bench = await openTestCharging()
  const hold = await CellHold.take(bench.charging, bench.payer('acct_1', 9n * PUSD_PER_J), nj(J))
  await hold.fill(nj(9n * J))
  const due = {
    account: 'acct_1',
    resource: 'database:db_1',
    energyNj: nj(3n * J),
    fromMs: 0,
    toMs: 1,
  }
  hold.measured(due.energyNj, Date.now())
  assert.equal(hold.measuredNj, 3n * J)
  assert.equal(hold.settle(due, { meter: 'm1', method: 'model', bandPct: 40 }), true)
  assert.equal(hold.measuredNj, 0n)
  const covered = [5n, 6n, 7n].map((joules) => hold.covers(nj(joules * J)))
  assert.deepEqual(covered, [true, true, false])
  hold.end()
})

test('energy that a charge did not use stays held: no tick in between may give it to another session', async () => {
  await using bench = await openTestCharging()
  const hold = await CellHold.take(bench.charging, bench.payer('acct_1', 90n * PUSD_PER_J), nj(J))
  await hold.fill(nj(40n * J))
  const due = { account: 'acct_1', resource: 'database:db_1', energyNj: nj(J), fromMs: 0, toMs: 1 }
  const held = () => (bench.leases.get('money:acct_1')?.held ?? 0n) / PUSD_PER_J
  assert.equal(held(), 40n)
  hold.measured(due.energyNj, Date.now())
  hold.settle(due, { meter: 'm1', method: 'model', bandPct: 40 })
  assert.equal(held(), 39n)
  hold.end()
})
