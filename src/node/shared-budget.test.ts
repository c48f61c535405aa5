// Instances of a workload that share an energy budget: each has a hold of its own, and its advance hold stays open to
// the others. The guard is asked in simulated time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import { CellHold, type CellPayer } from '#charging/cell-hold.ts'
import { createCellMinutes } from '#charging/cell-minutes.ts'
import { openTestCharging, PUSD_PER_J, type TestCharging } from '#charging/charging.fixture.ts'
import { chargeEnergy, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { setBudget } from '#ledger/reference/budgets.ts'
import type { MeterWindow } from '#metering/window.ts'
import { quiet } from '#postgres/testing.ts'
import { createLogger } from '#base/log.ts'
import { createCellBounds } from './cell-bounds.ts'
import { CHECK_MAX_MS, checkCells, releaseAhead, type HeldCell } from './cell-guard.ts'

const J = 1_000_000_000n
const ACCOUNT = 'acct_1'
const WINDOW_MS = 1000
const START_NJ = nj(J)
const STOP_NJ = nj(J / 10n)
const CPUS = 2
const CPU_NJ_PER_MS = 3_500_000n
const MOST_NJ_PER_MS = BigInt(CPUS) * CPU_NJ_PER_MS
/** The other instances end so long after the first that cannot be paid. */
const STOP_MS = 300
const LAST_MS = 600_000

type Instance = {
  readonly cell: Cell
  /** It takes less where the guard bounds it. */
  njPerMs: bigint
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

type World = {
  readonly budgetJ: bigint
  /** The balance of the account. */
  readonly balanceJ?: bigint
  /** Each instance has a budget of its own. */
  readonly isOwn?: boolean
  readonly instances: readonly { readonly milliwatts: number; readonly startMs: number }[]
}

type Guard = {
  /** Planted: it looks at each hold alone. */
  readonly isAlone?: boolean
  /** Each check comes so much late. */
  readonly lateMs?: number
  /** Planted: the kernel bounds nothing. */
  readonly isUnbound?: boolean
}

/** Runs the instances until all have ended. Resolves with the energy that they used and that was charged. */
async function play(given: World, guard: Guard = {}) {
  const { budgetJ, balanceJ = 1000n, isOwn = false, instances: world } = given
  const { isAlone = false, lateMs = 0, isUnbound = false } = guard
  await using bench = await openTestCharging()
  const owner = bench.payer(ACCOUNT, balanceJ * PUSD_PER_J)
  const njPerDay = budgetJ * J
  const payerOf = (name: string): CellPayer => {
    const id = isOwn ? `wl_${name}` : 'wl_1'
    if (!bench.books.budgets.has(id))
      setBudget(bench.books, { id, account: ACCOUNT, njPerDay }, Date.now())
    return { ...owner, budgets: [id], njPerDay: String(njPerDay) }
  }
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: (_account, resource) => payerOf(resource),
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log: quiet,
  })
  const tick = () => bench.session.tickNow(AbortSignal.timeout(60_000))
  const all = world.map(({ milliwatts, startMs }, place): Instance => {
    const mostNjPerMs = BigInt(milliwatts) * 1000n
    const cell = {
      spec: { name: `wl-1-1-${place + 1}` },
      kill: () => void (own.isEnded = true),
      limitCpu(_: string, milli: number | undefined) {
        const boundNjPerMs = (BigInt(milli ?? CPUS * 1000) * CPU_NJ_PER_MS) / 1000n
        own.njPerMs = isUnbound || boundNjPerMs > mostNjPerMs ? mostNjPerMs : boundNjPerMs
      },
    }
    const own: Instance = {
      cell: cell as unknown as Cell,
      njPerMs: mostNjPerMs,
      startMs,
      sinceNj: 0n,
      isEnded: false,
    }
    return own
  })
  let usedNj = 0n
  let latestMs = 0
  let endMs = Infinity
  const held = (): HeldCell[] =>
    all.flatMap(({ cell, isEnded, sinceNj }) => {
      const hold = holds.get(cell.spec.name)
      if (hold === undefined || isEnded) return []
      const used = () => nj(sinceNj)
      const ahead = {
        elapsedMs: nowMs % WINDOW_MS,
        mostNjPerMs: MOST_NJ_PER_MS,
        cpus: CPUS,
        used,
      }
      return [{ cell, hold, ahead, stopNj: STOP_NJ }]
    })
  const start = async ({ cell }: Instance) => {
    const take = () =>
      CellHold.take(bench.charging, payerOf(cell.spec.name), START_NJ, 'workload.standing')
    const hold = await take().catch(() => {
      releaseAhead(held())
      return take()
    })
    holds.set(cell.spec.name, hold)
  }
  const end = async (cell: Cell) => {
    for (const one of all) if (one.cell === cell) one.isEnded = true
    endMs = Math.min(endMs, nowMs + STOP_MS)
  }
  const bound = createCellBounds({
    clock: { monotonicMs: () => nowMs },
    log: createLogger('test', { write: () => {} }),
  })
  const check = (): number => {
    const cells = held()
    const groups = isAlone ? cells.map((one) => [one]) : [cells]
    const rounds = groups.map((group) => checkCells(group, end))
    bound(rounds)
    const restsMs = rounds.flatMap(({ checked }) => checked.map(({ restMs }) => restMs))
    return Math.max(1, Math.floor(Math.min(...restsMs, CHECK_MAX_MS)))
  }
  let nowMs = 0
  let checkMs = 0
  while (nowMs < LAST_MS && !(nowMs % WINDOW_MS === 0 && all.every(({ isEnded }) => isEnded))) {
    for (const one of all)
      if (one.startMs <= nowMs && !one.isEnded && !holds.has(one.cell.spec.name)) await start(one)
    if (nowMs >= checkMs) checkMs = nowMs + check() + lateMs
    const stepMs = Math.min(checkMs - nowMs, WINDOW_MS - (nowMs % WINDOW_MS))
    for (const hold of holds.values()) await hold.fill(nj(0n))
    for (const instance of all)
      if (!instance.isEnded && holds.has(instance.cell.spec.name)) {
        instance.sinceNj += instance.njPerMs * BigInt(stepMs)
        usedNj += instance.njPerMs * BigInt(stepMs)
      }
    nowMs += stepMs
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

function holdsBudget(
  { budgetJ }: World,
  { usedNj, chargedNj }: Awaited<ReturnType<typeof play>>,
  leastPct: bigint,
): void {
  assert.equal(chargedNj, usedNj, 'charged whole')
  assert.ok(chargedNj <= budgetJ * J, 'above the budget')
  assert.ok(chargedNj * 100n >= budgetJ * J * leastPct, `ended at ${chargedNj} nJ`)
}

test('instances that share a budget use 98 % of it before they end, and never more than it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(instance, { minLength: 2, maxLength: 3 }), async (instances) => {
      const world = { budgetJ: 300n, instances }
      holdsBudget(world, await play(world), 98n)
    }),
    { numRuns: 10 },
  )
})

const UNEVEN: World = {
  budgetJ: 15n,
  instances: [
    { milliwatts: 3500, startMs: 0 },
    { milliwatts: 50, startMs: 0 },
    { milliwatts: 50, startMs: 500 },
  ],
}

test('instances that share a small budget use 90 % of it, however uneven they are', async () => {
  const even = {
    budgetJ: 15n,
    instances: UNEVEN.instances.map((one) => ({ ...one, milliwatts: 2000 })),
  }
  for (const world of [UNEVEN, even]) holdsBudget(world, await play(world), 90n)
})

test('planted: a guard that looks at each hold alone ends them early', async () => {
  const alone = await play(UNEVEN, { isAlone: true })
  assert.throws(() => holdsBudget(UNEVEN, alone, 90n), { message: /ended at/ })
})

const LATE = [
  { budgetJ: 15n, lateMs: 2000 },
  { budgetJ: 60n, lateMs: 900 },
]

for (const { budgetJ, lateMs } of LATE)
  test(`a guard that is late by ${lateMs} ms at each check burns nothing beyond ${budgetJ} J`, async () => {
    const beyond = async (guard: Guard) => {
      const { usedNj, chargedNj } = await play({ ...UNEVEN, budgetJ }, { lateMs, ...guard })
      assert.ok(chargedNj <= budgetJ * J, 'above the budget')
      return usedNj - chargedNj
    }
    assert.equal(await beyond({}), 0n)
    const unbound = await beyond({ isUnbound: true })
    assert.ok(unbound > J / 2n, `planted: nothing bounds the processors: ${unbound} nJ`)
  })

const BURNER = { milliwatts: 3500, startMs: 0 }
const BURNERS = [BURNER, BURNER]
const SEVERAL: readonly (readonly [string, World, bigint])[] = [
  ['budgets of their own', { budgetJ: 60n, isOwn: true, instances: BURNERS }, 120n],
  [
    'a balance beside budgets of their own',
    { budgetJ: 1000n, balanceJ: 60n, isOwn: true, instances: BURNERS },
    60n,
  ],
]

for (const [name, world, mostJ] of SEVERAL)
  test(`a late guard burns nothing beyond ${name}`, async () => {
    const { usedNj, chargedNj } = await play(world, { lateMs: 900 })
    // Prices are whole numbers: a balance pays a little more than its joules.
    assert.ok(chargedNj <= mostJ * J + J / 1000n, `charged ${chargedNj} nJ`)
    assert.equal(usedNj - chargedNj, 0n)
  })
