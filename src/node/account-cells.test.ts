// The holds of cells that accounts pay for, where two calls want one at once, and the end of a cell that has none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { nj } from '#base/units.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import { CellHold } from '#charging/cell-hold.ts'
import { openTestCharging, PUSD_PER_J, type TestCharging } from '#charging/charging.fixture.ts'
import type { Payer } from '#charging/spend.ts'
import { quiet } from '#postgres/testing.ts'
import { createAccountCells } from './account-cells.ts'

const ACCOUNT = 'acct_1'
const WAIT_MS = 60_000
/** Too little for the hold of a start, of 1 J, and enough for a late one, of 0.5 J. */
const SMALL_PUSD = (PUSD_PER_J * 7n) / 10n

/** Cells that exist by name only, which count their stops. */
function open(bench: TestCharging, payer: Payer, names: readonly string[]) {
  const told = { stops: 0, asked: 0, usedUp: 0, isUsedUp: true, goOn: () => {} }
  const gate = new Promise<void>((resolve) => (told.goOn = resolve))
  const stopping = Promise.withResolvers<void>()
  const cells = names.map((name) => ({
    spec: { name, payer: { kind: 'account', account: ACCOUNT } },
    freeze: async () => {},
    limitCpu: () => {},
    kill: () => {},
    async stop() {
      told.stops++
      await stopping.promise
    },
  })) as unknown as Cell[]
  const holds = new Map<string, CellHold>()
  let payers = 0
  const accountCells = createAccountCells({
    cells: { list: () => cells, onChange: () => {} } as unknown as Cells,
    charging: bench.charging,
    holds,
    ahead: () => ({ used: () => nj(0n), elapsedMs: 0, mostNjPerMs: 1n, cpus: 1 }),
    readMs: () => Infinity,
    async payerOf() {
      if (payers++ === 0) await gate
      return payer
    },
    settle: () => {},
    tick: async () => {},
    onChange: () => {},
    async isUsedUp() {
      told.asked++
      return told.isUsedUp
    },
    clock: { monotonicMs: () => 0 },
    log: quiet,
  })
  accountCells.onUnpaid('', {
    tell: async () => {},
    stop: async () => {},
    usedUp: async () => void told.usedUp++,
  })
  return { ...accountCells, told, holds, cells, stopped: stopping.resolve }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!holds()) {
    assert.ok(performance.now() < lastMs, what)
    await pause(2)
  }
}

test('a start that finds a smaller hold under way holds its own energy', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer(ACCOUNT, SMALL_PUSD)
  const used = open(bench, payer, ['db-1'])
  const ending = new AbortController()
  // The guard finds the cell without a hold, and asks for half a joule.
  const guarding = used.run(ending.signal)
  const admitted = used.admit('db-1', ACCOUNT)
  used.told.goOn()
  await assert.rejects(admitted, { code: 'balance_depleted' }).finally(() => ending.abort())
  await guarding
})

test('a cell that nobody can pay is ended once, however long its stop takes', async () => {
  await using bench = await openTestCharging()
  const rich = bench.payer('acct_2', 10n * PUSD_PER_J)
  const budgets = ['db_1']
  bench.books.budgets.set('db_1', { account: ACCOUNT, njPerDay: 0n, operations: [] })
  const used = open(bench, { ...bench.payer(ACCOUNT, 10n * PUSD_PER_J), budgets }, ['db-1', 'db-2'])
  // The guard looks each 10 ms while any cell is being ended.
  const beside = await CellHold.take(bench.charging, rich, nj(1n))
  beside.unpaid = beside.refusal
  beside.isFrozen = true
  used.holds.set('db-2', beside)
  const ending = new AbortController()
  const guarding = used.run(ending.signal)
  used.told.goOn()
  await until('it is being stopped', () => used.told.stops > 0)
  await pause(200)
  used.cells.shift()
  used.stopped()
  await until('its event', () => used.told.usedUp > 0)
  await pause(50)
  ending.abort()
  await guarding
  beside.end()
  assert.deepEqual([used.told.stops, used.told.asked, used.told.usedUp], [1, 1, 1])
})

test('a start that its budget does not admit is the end of the budget only where nothing of it can be used', async () => {
  await using bench = await openTestCharging()
  const budgets = ['wl_1']
  bench.books.budgets.set('wl_1', { account: ACCOUNT, njPerDay: 0n, operations: [] })
  const used = open(bench, { ...bench.payer(ACCOUNT, 10n * PUSD_PER_J), budgets }, [])
  used.told.goOn()
  for (const isUsedUp of [false, true]) {
    used.told.isUsedUp = isUsedUp
    await assert.rejects(used.admit('wl-1-1', ACCOUNT), { code: 'budget_exhausted' })
    await until('it is asked', () => used.told.asked === (isUsedUp ? 2 : 1))
    await pause(2)
    assert.equal(used.told.usedUp, isUsedUp ? 1 : 0)
  }
})

test('a start has what a cell that has ended held ahead, and not what one that starts beside it holds', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer(ACCOUNT, (PUSD_PER_J * 3n) / 2n)
  const used = open(bench, payer, ['pull-1'])
  used.told.goOn()
  await used.admit('pull-1', ACCOUNT)
  const ending = new AbortController()
  const guarding = used.run(ending.signal)
  await pause(50)
  ending.abort()
  await guarding
  used.cells.shift()
  await used.admit('wl-1', ACCOUNT)
  assert.deepEqual([...used.holds.keys()], ['wl-1'])
  await assert.rejects(used.admit('wl-2', ACCOUNT), { code: 'balance_depleted' })
  assert.deepEqual([...used.holds.keys()], ['wl-1'])
})
