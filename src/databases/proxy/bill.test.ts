import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { nj } from '#base/units.ts'
import { CellHold } from '#charging/cell-hold.ts'
import { NJ_PER_CPU_S, openTestCharging, PUSD_PER_J } from '#charging/charging.fixture.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { createMarks } from '#metering/marks.ts'
import { budgetDay, setBudget } from '#ledger/reference/budgets.ts'
import { fitReferenceReserves } from '#ledger/reference/reserves.ts'
import { openBill, PROXY_HOLDS } from './bill.ts'
import { createPipeMarks } from '#metering/pipe-marks.ts'

const MS = 1e6
const J = 1_000_000_000n
const budgetEnded = async () => assert.fail('no budget')
const NJ_PER_MS = NJ_PER_CPU_S / 1000n

test('two databases are billed their own work and logins, and nobody what is not marked', async () => {
  await using used = await openTestCharging()
  let cpuNs = 0
  const marks = createPipeMarks(createMarks({ cpuNs: () => cpuNs }))
  const open = (account: string) => {
    const payer = used.payer(account, 10n ** 12n)
    const { charging } = used
    const deps = { charging, clock: systemClock, marks, payerOf: async () => payer, budgetEnded }
    return openBill(deps, { account, database: account, databaseName: account })
  }
  const billed = () => used.charging.billed().accruedNj
  const [one, other] = [await open('one'), await open('other')]
  cpuNs += 3 * MS
  one.mark()
  cpuNs += 5 * MS
  other.piece(100)
  other.addLogin(2 * MS)
  await one.end()
  assert.equal(billed(), 3n * NJ_PER_MS)
  // A login that fails, or a tick.
  cpuNs += 50 * MS
  marks.mark({ cpuNs: 0 })
  await other.end()
  assert.equal(billed(), 10n * NJ_PER_MS)
})

test('sessions that nothing was used for, as logins to a database that cannot start, have no charge', async () => {
  await using used = await openTestCharging()
  const payer = used.payer('one', 10n ** 12n)
  const { charging } = used
  const marks = createPipeMarks(createMarks({ cpuNs: () => 0 }))
  const deps = { charging, clock: systemClock, marks, payerOf: async () => payer, budgetEnded }
  const bill = await openBill(deps, { account: 'one', database: 'db_1', databaseName: 'notes' })
  await bill.end()
  assert.equal(charging.running, 0)
  await used.session.tickNow(AbortSignal.timeout(60_000))
  assert.deepEqual(used.books.charges, [])
})

test('a bill is not opened for an account that cannot pay', async () => {
  await using used = await openTestCharging(0n)
  const payer = used.payer('poor', 0n)
  const { charging } = used
  const deps = {
    charging,
    clock: systemClock,
    marks: createPipeMarks(),
    payerOf: async () => payer,
    budgetEnded,
  }
  await assert.rejects(openBill(deps, { account: 'poor', database: 'db_x', databaseName: 'x' }), {
    code: 'balance_depleted',
  })
})

test('sessions are billed what the budget of their database has, and then cut by its name', async () => {
  await using used = await openTestCharging()
  const { charging, books } = used
  let cpuNs = 0
  const marks = createPipeMarks(createMarks({ cpuNs: () => cpuNs }))
  const payer = used.payer('one', 10n ** 12n)
  const budget = { id: 'db_1', account: 'one', njPerDay: 6_000_000_000n }
  setBudget(books, budget, Date.now())
  const told: string[] = []
  const deps = {
    charging,
    clock: systemClock,
    marks,
    payerOf: async () => ({ ...payer, budgets: ['db_1'] }),
    budgetEnded: async (database: string) => void told.push(database),
  }
  const bill = await openBill(deps, { account: 'one', database: 'db_1', databaseName: 'notes' })
  cpuNs += 2000 * MS
  bill.mark()
  const { message } = await bill.cut
  assert.match(message, /energy budget/)
  await bill.end()
  assert.deepEqual(told, ['db_1'])
  await used.session.tickNow(AbortSignal.timeout(60_000))
  assert.equal(books.wallets.get(budgetDay('db_1', Date.now()))?.posted, 0n)
  const [charge] = books.records.get(used.session.id) ?? []
  assert.equal(parseCharge(Buffer.from(charge ?? '')).resource, 'database:db_1')
})

test('sessions go on while their server holds the whole balance: the grace pays for both', async () => {
  await using agent = await openTestCharging(0n, systemClock, undefined, { draws: 'grace' })
  const { aheadNj, draws } = PROXY_HOLDS
  await using proxy = await openTestCharging(0n, systemClock, undefined, {
    beside: agent,
    aheadNj,
    draws,
  })
  const payer = agent.payer('one', 20n * PUSD_PER_J)
  const grace = {
    kind: 'grace',
    source: 'cells',
    energies: new Map([['one', nj(10n * J)]]),
  } as const
  fitReferenceReserves(agent.books, grace)
  const server = await CellHold.take(agent.charging, payer, nj(10n * J))
  assert.ok(server.covers(nj(10n * J)))
  assert.equal(agent.leases.get('money:one')?.held, 10n * PUSD_PER_J)
  const bill = await openBill(
    {
      charging: proxy.charging,
      clock: systemClock,
      marks: createPipeMarks(),
      payerOf: async () => payer,
      budgetEnded,
    },
    { account: 'one', database: 'db_1', databaseName: 'notes' },
  )
  await bill.end()
  server.end()
})
