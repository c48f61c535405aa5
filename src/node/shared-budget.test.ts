// Instances of a workload that share an energy budget: each has a hold of its own, and what one holds ahead is not
// kept from the others until they end. By the guard, in simulated time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import { CellHold } from '#charging/cell-hold.ts'
import { createCellMinutes } from '#charging/cell-minutes.ts'
import { openTestCharging, PUSD_PER_J, type TestCharging } from '#charging/charging.fixture.ts'
import { chargeEnergy, parseCharge, type Charge } from '#contract/charge.ts'
import { setBudget } from '#ledger/model-budgets.ts'
import type { MeterWindow } from '#metering/window.ts'
import { quiet } from '#postgres/testing.ts'
import { checkCell } from './cell-guard.ts'

const J = 1_000_000_000n
const ACCOUNT = 'acct_1'
const BUDGET_J = 300n
const WINDOW_MS = 1000
const START_NJ = nj(J)
/** Two processors of 3.5 W. */
const MOST_NJ_PER_MS = 7_000_000n
/** The other instances end so long after the first that cannot be paid. */
const STOP_MS = 300
const LAST_MS = 600_000

type Instance = {
  readonly cell: Cell
  readonly njPerMs: bigint
  readonly startMs: number
  sinceNj: bigint
  isEnded: boolean
}

const windowAt = (k: number, used: readonly Instance[]): MeterWindow => ({
  meter: 'm1',
  k,
  elapsedNs: J,
  busyNs: 0n,
  readingNj: nj(used.reduce((sum, { sinceNj }) => sum + sinceNj, 0n)),
  idleNj: nj(0n),
  method: 'model',
  bandPct: 40,
  pueMilli: 1000n,
  njPerCpuS: 0n,
  chargedNs: 0n,
  accruedNj: nj(0n),
  tariffNjPerCpuS: 0n,
  shares: used.map(({ cell, sinceNj }) => ({
    name: cell.spec.name,
    payer: { kind: 'account', account: ACCOUNT },
    cpuNs: 0n,
    dynamicNj: nj(sinceNj),
    idleNj: nj(0n),
  })),
})

const chargesOf = (bench: TestCharging): Charge[] =>
  [...bench.books.records.values()]
    .flat()
    .filter((text) => text.includes('"operation":"workload.standing"'))
    .map((text) => parseCharge(Buffer.from(text)))

const energyOf = (charges: readonly Charge[]): bigint =>
  charges.reduce((sum, charge) => sum + chargeEnergy(charge), 0n)

type World = readonly { readonly milliwatts: number; readonly startMs: number }[]

/** Runs the instances until all have ended. Resolves with the energy that they used and that was charged. */
async function play(world: World, isAlone = false) {
  await using bench = await openTestCharging()
  const owner = bench.payer(ACCOUNT, 1000n * PUSD_PER_J)
  const njPerDay = BUDGET_J * J
  setBudget(bench.books, { id: 'wl_1', account: ACCOUNT, njPerDay }, Date.now())
  const payer = { ...owner, budgets: ['wl_1'], njPerDay: String(njPerDay) }
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log: quiet,
  })
  const tick = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  const all = world.map(({ milliwatts, startMs }, place): Instance => {
    const cell = { spec: { name: `wl-1-1-${place + 1}` }, kill: () => assert.fail('killed') }
    return {
      cell: cell as unknown as Cell,
      njPerMs: BigInt(milliwatts) * 1000n,
      startMs,
      sinceNj: 0n,
      isEnded: false,
    }
  })
  let usedNj = 0n
  let latestMs = 0
  let endMs = Infinity
  const check = (instance: Instance, elapsedMs: number): number => {
    const hold = holds.get(instance.cell.spec.name)
    if (hold === undefined || instance.isEnded) return WINDOW_MS
    const ahead = { elapsedMs, mostNjPerMs: MOST_NJ_PER_MS, used: () => nj(instance.sinceNj) }
    return checkCell(instance.cell, hold, {
      ahead,
      holds: isAlone ? [] : holds.values(),
      async end() {
        instance.isEnded = true
        endMs = Math.min(endMs, nowMs + STOP_MS)
      },
    })
  }
  let nowMs = 0
  while (nowMs < LAST_MS && !(nowMs % WINDOW_MS === 0 && all.every(({ isEnded }) => isEnded))) {
    for (const { cell, startMs, isEnded } of all)
      if (startMs <= nowMs && !isEnded && !holds.has(cell.spec.name)) {
        const hold = CellHold.take(bench.charging, payer, START_NJ, 'workload.standing')
        holds.set(cell.spec.name, await hold)
      }
    const rests = all.map((instance) => check(instance, nowMs % WINDOW_MS))
    const stepMs = Math.max(1, Math.min(...rests, WINDOW_MS - (nowMs % WINDOW_MS)))
    for (const hold of holds.values()) await hold.fill(nj(0n))
    for (const instance of all)
      if (!instance.isEnded && holds.has(instance.cell.spec.name)) {
        instance.sinceNj += instance.njPerMs * BigInt(Math.floor(stepMs))
        usedNj += instance.njPerMs * BigInt(Math.floor(stepMs))
      }
    nowMs += Math.floor(stepMs)
    if (nowMs >= endMs) for (const instance of all) instance.isEnded = true
    if (nowMs % WINDOW_MS !== 0) continue
    minutes.add(windowAt(1000 + nowMs / WINDOW_MS, all))
    for (const instance of all) instance.sinceNj = 0n
    await tick()
    latestMs = nowMs
  }
  assert.ok(latestMs < LAST_MS, 'all end')
  await minutes.charge('all')
  for (const hold of holds.values()) hold.end()
  await tick()
  return { usedNj, chargedNj: energyOf(chargesOf(bench)) }
}

const instance = fc.record({
  milliwatts: fc.integer({ min: 500, max: 3500 }),
  startMs: fc.integer({ min: 0, max: 20_000 }),
})

function holdsBudget({ usedNj, chargedNj }: Awaited<ReturnType<typeof play>>): void {
  assert.equal(chargedNj, usedNj, 'charged whole')
  assert.ok(chargedNj <= BUDGET_J * J, 'above the budget')
  assert.ok(chargedNj * 100n >= BUDGET_J * J * 95n, `ended at ${chargedNj / J} J`)
}

test('instances that share a budget use 95 % of it before they end, and never more than it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(instance, { minLength: 2, maxLength: 3 }), async (world) =>
      holdsBudget(await play(world)),
    ),
    { numRuns: 10 },
  )
})

test('planted: a guard that looks at each hold alone ends them early', async () => {
  const world = [
    { milliwatts: 3500, startMs: 0 },
    { milliwatts: 500, startMs: 5000 },
    { milliwatts: 1000, startMs: 20_000 },
  ]
  holdsBudget(await play(world))
  const alone = await play(world, true)
  assert.throws(() => holdsBudget(alone), { message: /ended at/ })
})
