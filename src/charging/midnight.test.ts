// The day of a charge is the day of the wallets that it took from: usage, the ledger and a budget agree about each day,
// and no day has more than its budget.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dayOf, systemClock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { createLogger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { chargeEnergy, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import { budgetDay, setBudget } from '#ledger/reference/budgets.ts'
import { windowBytes } from '#metering/window-record.ts'
import type { MeterWindow } from '#metering/window.ts'
import { CellHold } from './cell-hold.ts'
import { createCellMinutes } from './cell-minutes.ts'
import { openTestCharging, PUSD_PER_J, type TestCharging } from './charging.fixture.ts'
import type { OpenSpend } from './open-spend.ts'
import type { Payer } from './spend.ts'

const J = 1_000_000_000n
const CELL = 'db-1'
const MIDNIGHT = Date.UTC(2031, 0, 2)
const DAYS = [MIDNIGHT - 1, MIDNIGHT] as const
const OPERATIONS = ['cell.standing', 'database.session']
const log = createLogger('test', { level: 'error', write: () => {} })

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

const chargesOf = (bench: TestCharging): Charge[] =>
  [...bench.books.records.values()]
    .flat()
    .map((text) => parseCharge(Buffer.from(text)))
    .filter(({ resource }) => resource === 'database:db_1')

/** The energy of the charges that end on the day of this time, as `usage` adds them up. */
const chargedOn = (bench: TestCharging, ms: number): bigint =>
  chargesOf(bench)
    .filter(({ to }) => to.slice(0, 10) === dayOf(ms))
    .reduce((sum, charge) => sum + chargeEnergy(charge), 0n)

/** The use of the budget on the day of this time, as the list of budgets has it. */
function usedOn({ books }: TestCharging, ms: number): bigint {
  const id = budgetDay('db_1', ms)
  const day = books.budgetDays.get(id)
  return day === undefined
    ? 0n
    : day.unlimited + day.granted - (books.wallets.get(id)?.posted ?? 0n)
}

type Step = {
  readonly ms: number
  readonly joules: bigint
  readonly ticks: boolean
  readonly session: 'opens' | 'ends' | 'goes on'
}
type World = {
  readonly beforeMs: number
  readonly perDay: bigint
  readonly steps: readonly Step[]
}

/** Plays a cell and sessions over midnight, then compares both days. */
async function play(
  { beforeMs, perDay, steps }: World,
  change: (bench: TestCharging) => void = () => undefined,
): Promise<TestCharging> {
  let atMs = MIDNIGHT - beforeMs
  const nowMs = () => atMs
  await using bench = await openTestCharging(
    undefined,
    { ...systemClock, wallMs: nowMs },
    undefined,
    { nowMs },
  )
  const njPerDay = perDay * J
  const budget = { id: 'db_1', account: 'acct_1', njPerDay, operations: OPERATIONS }
  const payer = { ...bench.payer('acct_1', 10_000n * PUSD_PER_J), budgets: ['db_1'] }
  setBudget(bench.books, budget, atMs)
  const tick = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  const holds = new Map([[CELL, await CellHold.take(bench.charging, payer, nj(J))]])
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  let sessions: { readonly work: OpenSpend; usedNj: bigint }[] = []
  let burnt = 0n
  const end = ({ work }: { readonly work: OpenSpend }) => void work.settle(200)
  for (const { ms, joules, ticks, session } of steps) {
    change(bench)
    const hold = holds.get(CELL)
    if (ticks) await hold?.fill(nj(burnt + joules * J))
    if (hold?.covers(nj(burnt + joules * J)) === true) burnt += joules * J
    for (const one of sessions) {
      one.usedNj += (joules * J) / 3n
      one.work.claim({
        kind: 'upstream',
        meter: 'm2',
        method: 'model',
        bandPct: 40,
        energyNj: nj(one.usedNj),
      })
    }
    const before = Math.floor(atMs / 1000)
    atMs += ms
    if (ticks) await tick()
    change(bench)
    const k = Math.floor(atMs / 1000)
    if (k > before) {
      minutes.add({ ...windowAt(k, burnt), elapsedNs: BigInt(k - before) * J })
      burnt = 0n
      await minutes.charge('over')
    }
    if (session === 'opens') {
      const opened = await openSession(bench, payer)
      if (opened !== undefined) sessions.push({ work: opened, usedNj: 0n })
    } else if (session === 'ends') {
      sessions.forEach(end)
      sessions = []
    }
  }
  sessions.forEach(end)
  await tick()
  await minutes.charge('all')
  for (const hold of holds.values()) hold.end()
  await tick()
  await tick()
  for (const day of DAYS) {
    assert.ok(chargedOn(bench, day) <= njPerDay, `${dayOf(day)} has more than its budget`)
    assert.equal(chargedOn(bench, day), usedOn(bench, day), `${dayOf(day)} in usage and budget`)
  }
  const usedNj = usedOn(bench, atMs)
  setBudget(bench.books, budget, atMs)
  assert.equal(usedOn(bench, atMs), usedNj, 'the same budget once more')
  assert.deepEqual(brokenInvariants(bench.books), [])
  assert.deepEqual(bench.books.alarms, [])
  return bench
}

/** A session of the database; undefined where nothing can be held for it. */
async function openSession(bench: TestCharging, payer: Payer): Promise<OpenSpend | undefined> {
  const work = bench.charging.open()
  try {
    await work.admit(payer, 'database.session', nj(10_000n * J))
    work.served({ resource: 'database:db_1' })
    return work
  } catch (error) {
    assert.ok(error instanceof ErgonError)
    assert.match(error.code, /^(budget_exhausted|state_unavailable)$/)
    work.drop()
    return undefined
  }
}

const worlds: fc.Arbitrary<World> = fc.record({
  beforeMs: fc.integer({ min: 1, max: 9000 }),
  perDay: fc.bigInt(10n, 300n),
  steps: fc.array(
    fc.record({
      ms: fc.integer({ min: 1, max: 1500 }),
      joules: fc.bigInt(0n, 9n),
      ticks: fc.boolean(),
      session: fc.constantFrom('opens' as const, 'ends' as const, 'goes on' as const),
    }),
    { minLength: 5, maxLength: 30 },
  ),
})

test('usage and budget agree about each day, and no day has more than its budget', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => void (await play(world))),
    { numRuns: 25 },
  )
})

const OVER: World = {
  beforeMs: 5500,
  perDay: 2000n,
  steps: Array.from({ length: 20 }, () => ({
    ms: 500,
    joules: 3n,
    ticks: true,
    session: 'goes on',
  })),
}

test('the work of a cell is charged on its day, to the window', async () => {
  const bench = await play(OVER)
  const ends = chargesOf(bench).map(({ to }) => to)
  assert.ok(ends.includes('2031-01-01T23:59:59.999Z'), ends.join())
  assert.ok(
    ends.every((to) => to !== '2031-01-02T00:00:00.000Z'),
    ends.join(),
  )
  assert.deepEqual(
    DAYS.map((day) => chargedOn(bench, day)),
    [33n * J, 24n * J],
  )
})

/** A session over midnight. */
const LONG: World = {
  ...OVER,
  steps: OVER.steps.map((step, place) => ({
    ...step,
    session: place === 0 ? 'opens' : place === OVER.steps.length - 1 ? 'ends' : 'goes on',
  })),
}

test('planted: a hold that stays with the wallet of yesterday is found', async () => {
  await play(LONG)
  await assert.rejects(
    play(LONG, ({ leases }) => {
      const lease = leases.get('budget:db_1')
      if (lease !== undefined) Object.assign(lease, { dayMs: undefined })
    }),
    { message: /in usage and budget/ },
  )
})

test('windows that an earlier life left before midnight are charged to the wallet of their day', async () => {
  let atMs = MIDNIGHT - 5000
  const nowMs = () => atMs
  const clock = { ...systemClock, wallMs: nowMs }
  await using bench = await openTestCharging(undefined, clock, undefined, { nowMs })
  const payer = { ...bench.payer('acct_1', 10_000n * PUSD_PER_J), budgets: ['db_1'] }
  const budget = { id: 'db_1', account: 'acct_1', njPerDay: 90n * J, operations: OPERATIONS }
  setBudget(bench.books, budget, atMs)
  atMs = MIDNIGHT + 3000
  const tick = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  await tick()
  const atK = MIDNIGHT / 1000
  const windows = [-1, 0, 1].map((after) => windowBytes(windowAt(atK + after, 5n * J)))
  const life = (charged: string) =>
    createCellMinutes({
      charging: bench.charging,
      payerOf: () => payer,
      meter: 'm1',
      stateOf: () => undefined,
      left: { windows, chargedToMs: new Map([[CELL, Date.parse(charged)]]) },
      log,
    })
  await life('2031-01-01T23:59:58.000Z').charge('all')
  await tick()
  const figures = DAYS.map((day) => [chargedOn(bench, day), usedOn(bench, day)])
  const both = [10n * J, 10n * J]
  assert.deepEqual(figures, [both, [5n * J, 5n * J]])
  await life('2031-01-01T23:59:59.999Z').charge('all')
  await tick()
  assert.equal(chargesOf(bench).length, 3, 'the last window of the day is not charged again')
})

/** A bench whose time the test sets, with a budget of the database. */
async function openBudget(perDay: bigint, beginMs: number) {
  const time = { atMs: beginMs }
  const nowMs = () => time.atMs
  const clock = { ...systemClock, wallMs: nowMs }
  const bench = await openTestCharging(undefined, clock, undefined, { nowMs })
  const payer = { ...bench.payer('acct_1', 10_000n * PUSD_PER_J), budgets: ['db_1'] }
  const budget = { id: 'db_1', account: 'acct_1', njPerDay: perDay * J, operations: OPERATIONS }
  setBudget(bench.books, budget, time.atMs)
  const tick = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  return { bench, payer, tick, time }
}

test('a window that is charged while the ledger is silent at midnight keeps its time, so no later life charges it again', async () => {
  const { bench, payer, tick, time } = await openBudget(90n, MIDNIGHT - 500)
  await using _bench = bench
  const hold = await CellHold.take(bench.charging, payer, nj(20n * J))
  hold.end()
  bench.answers = false
  time.atMs = MIDNIGHT + 1000
  const window = windowAt(MIDNIGHT / 1000 + 1, 5n * J)
  const life = (chargedTo: string) =>
    createCellMinutes({
      charging: bench.charging,
      payerOf: () => payer,
      meter: 'm1',
      stateOf: () => undefined,
      left: {
        windows: [windowBytes(window)],
        chargedToMs: new Map([[CELL, Date.parse(chargedTo)]]),
      },
      log,
    })
  await life('2031-01-01T23:59:59.999Z').charge('all')
  bench.answers = true
  await tick()
  const [charge] = chargesOf(bench)
  assert.equal(charge?.to, '2031-01-02T00:00:01.000Z')
  await life(charge.to).charge('all')
  await tick()
  assert.equal(chargesOf(bench).length, 1)
})

test('a hold that nobody looks at for a while after midnight moves to the new day', async () => {
  const { bench, payer, tick, time } = await openBudget(90n, MIDNIGHT - 1000)
  await using _bench = bench
  const session = await openSession(bench, payer)
  assert.ok(session !== undefined)
  time.atMs = MIDNIGHT + 1000
  for (let nth = 0; nth < 60; nth++) await tick()
  time.atMs = MIDNIGHT + 3_600_000
  const used = (energyNj: bigint) =>
    session.claim({
      kind: 'upstream',
      meter: 'm2',
      method: 'model',
      bandPct: 40,
      energyNj: nj(energyNj),
    })
  used(J)
  await session.finish()
  await tick()
  used(2n * J)
  await session.finish()
  session.settle(200)
  await tick()
  assert.deepEqual(
    DAYS.map((day) => [chargedOn(bench, day), usedOn(bench, day)]),
    [
      [0n, 0n],
      [2n * J, 2n * J],
    ],
  )
})

test('a cell whose new day has too little is held by nothing of yesterday', async () => {
  const { bench, payer, tick, time } = await openBudget(90n, MIDNIGHT - 1000)
  await using _bench = bench
  const holds = new Map([[CELL, await CellHold.take(bench.charging, payer, nj(20n * J))]])
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  time.atMs = MIDNIGHT + 500
  await tick()
  const other = await openSession(bench, payer)
  assert.ok(other !== undefined)
  other.claim({
    kind: 'upstream',
    meter: 'm2',
    method: 'model',
    bandPct: 40,
    energyNj: nj(90n * J),
  })
  await other.finish()
  await tick()
  await other.finish()
  other.settle(200)
  await tick()
  time.atMs = MIDNIGHT + 61_000
  const k = MIDNIGHT / 1000
  minutes.add(windowAt(k + 1, 5n * J))
  minutes.add(windowAt(k + 61, 5n * J))
  await minutes.charge('over')
  assert.equal(holds.get(CELL)?.covers(nj(5n * J)), false)
  for (const hold of holds.values()) hold.end()
})
