// The energy of cells of accounts is charged once, to the last nanojoule, whatever is killed in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLogger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { chargeEnergy, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { cellOperationOf } from '#contract/ledger/cell-operation.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import type { CellWindows } from '#ledger/cell-windows.ts'
import { windowBytes } from '#metering/window-record.ts'
import type { Share, MeterWindow } from '#metering/window.ts'
import { openTestCharging, type TestCharging } from './charging.fixture.ts'
import { CellHold } from './cell-hold.ts'
import { createCellMinutes, type CellMinutes } from './cell-minutes.ts'

const J = 1_000_000_000n
const FUNDS = 10n ** 15n
const log = createLogger('test', { level: 'error', write: () => {} })
/** Two of them are instances of one workload. */
const CELLS = ['db-1', 'wl-2-1-1', 'wl-2-1-2'] as const
const RESOURCES = ['database:db_1', 'workload:wl_2', 'workload:wl_2'] as const
const ACCOUNTS = ['acct_1', 'acct_2', 'acct_2'] as const

const shareOf = (cell: number, dynamicNj: bigint, idleNj: bigint): Share => ({
  name: CELLS[cell] ?? '',
  payer: { kind: 'account', account: ACCOUNTS[cell] ?? '' },
  cpuNs: 0n,
  dynamicNj: nj(dynamicNj),
  idleNj: nj(idleNj),
})

function windowAt(k: number, shares: readonly Share[]): MeterWindow {
  const used = shares.reduce((sum, { dynamicNj, idleNj }) => sum + dynamicNj + idleNj, 0n)
  return {
    meter: 'm1',
    k,
    elapsedNs: J,
    busyNs: 0n,
    readingNj: nj(used + J),
    idleNj: nj(0n),
    method: 'model',
    bandPct: 40,
    pueMilli: 1000n,
    njPerCpuS: 0n,
    chargedNs: 0n,
    accruedNj: nj(0n),
    tariffNjPerCpuS: 0n,
    shares: [
      ...shares,
      { name: 'gw-1', payer: { kind: 'operator' }, cpuNs: 0n, dynamicNj: nj(J), idleNj: nj(0n) },
    ],
  }
}

/** All charges of cells that are in the ledger. */
const chargesOf = (bench: TestCharging): Charge[] =>
  [...bench.books.records.values()]
    .flat()
    .filter((text) => /"operation":"(cell|function|workload)\.standing"/.test(text))
    .map((text) => parseCharge(Buffer.from(text)))

const idleOf = ({ parts }: Charge): bigint =>
  parts.reduce((sum, part) => sum + (part.idle === true ? BigInt(part.energy_nj) : 0n), 0n)

async function posted(bench: TestCharging): Promise<Charge[]> {
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  return chargesOf(bench)
}

const leftOf = (windows: readonly MeterWindow[], charges: readonly Charge[]): CellWindows => {
  const chargedToMs = new Map<string, number>()
  for (const { resource = '', cell = resource, to } of charges)
    chargedToMs.set(cell, Math.max(chargedToMs.get(cell) ?? 0, Date.parse(to)))
  return { windows: windows.map(windowBytes), chargedToMs }
}

/** A life of the agent: it charges with `bench`, and is killed by being left. */
const live = (bench: TestCharging, states: Map<string, string>, left?: CellWindows): CellMinutes =>
  createCellMinutes({
    charging: bench.charging,
    payerOf: (account) => ({ account, env: 'live', funded: true }),
    meter: 'm1',
    stateOf: (cell) => states.get(cell),
    log,
    ...(left !== undefined && { left }),
  })

type Step =
  | { readonly kind: 'window'; readonly uses: readonly (readonly [bigint, bigint])[] }
  | { readonly kind: 'kill' }
  /** The wall clock is set on; back it changes nothing, as the seconds of windows never fall. */
  | { readonly kind: 'jump'; readonly seconds: number }
  | { readonly kind: 'state'; readonly cell: number; readonly state: string }

const use = fc.tuple(fc.bigInt(0n, 3n * J), fc.bigInt(0n, J))
const windowStep: fc.Arbitrary<Step> = fc
  .array(use, { minLength: 0, maxLength: 3 })
  .map((uses) => ({ kind: 'window', uses }))
const steps = fc.array(
  fc.oneof(
    { weight: 30, arbitrary: windowStep },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'kill' }) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(1, 59, 3600, 86_400)
        .map((seconds) => ({ kind: 'jump' as const, seconds })),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('state' as const),
        cell: fc.nat(2),
        state: fc.constantFrom('ready', 'stopped'),
      }),
    },
  ),
  { minLength: 40, maxLength: 200 },
)

/** Plays the steps; `leftAt` says what a new life finds of the one before. */
async function play(all: readonly Step[], leftAt: typeof leftOf): Promise<void> {
  await using bench = await openTestCharging()
  for (const account of ACCOUNTS) bench.payer(account, FUNDS)
  const states = new Map<string, string>(CELLS.map((cell) => [cell, 'ready']))
  const windows: MeterWindow[] = []
  let minutes = live(bench, states)
  let k = 1000
  for (const step of all) {
    if (step.kind === 'window') {
      const window = windowAt(
        ++k,
        step.uses.map(([dynamic, idle], cell) => shareOf(cell, dynamic, idle)),
      )
      windows.push(window)
      minutes.add(window)
      await minutes.charge('over')
    } else if (step.kind === 'jump') k += step.seconds
    else if (step.kind === 'state') states.set(CELLS[step.cell] ?? '', step.state)
    else minutes = live(bench, states, leftAt(windows, await posted(bench)))
  }
  await minutes.charge('all')
  const charges = await posted(bench)
  for (const [place, cell] of CELLS.entries()) {
    const used = windows
      .flatMap(({ shares }) => shares)
      .filter(({ name }) => name === cell)
      .reduce((sum, { dynamicNj, idleNj }) => sum + dynamicNj + idleNj, 0n)
    const idle = windows
      .flatMap(({ shares }) => shares)
      .filter(({ name }) => name === cell)
      .reduce((sum, { idleNj }) => sum + idleNj, 0n)
    const own = charges.filter((charge) => charge.cell === cell)
    assert.equal(
      own.reduce((sum, charge) => sum + idleOf(charge), 0n),
      idle,
      `${cell} at rest`,
    )
    assert.equal(
      own.reduce((sum, charge) => sum + chargeEnergy(charge), 0n),
      used,
      cell,
    )
    assert.ok(own.every(({ account }) => account === ACCOUNTS[place]))
    assert.ok(own.every(({ resource }) => resource === RESOURCES[place]))
    for (const [at, { from, to }] of own.entries()) {
      assert.ok(at === 0 || from >= (own[at - 1]?.to ?? ''), 'charges of a cell overlap')
      const minuteOf = (ms: number) => Math.ceil(ms / 60_000)
      assert.equal(minuteOf(Date.parse(from) + 1), minuteOf(Date.parse(to)), 'one minute each')
    }
  }
  assert.deepEqual(brokenInvariants(bench.books), [])
}

test('shares of accounts’ cells are charged once and whole, over kills and changes of state', async () => {
  await fc.assert(
    fc.asyncProperty(steps, (all) => play(all, leftOf)),
    { numRuns: 25 },
  )
})

test('planted: a new life that asks how far resources are charged, not cells, is found', async () => {
  const window: Step = {
    kind: 'window',
    uses: [
      [0n, 0n],
      [J, 0n],
      [J, 0n],
    ],
  }
  // The first instance is charged at its end, some windows further than the second.
  const all: Step[] = [
    ...Array.from({ length: 25 }, () => window),
    { kind: 'state', cell: 1, state: 'stopped' },
    window,
    { kind: 'kill' },
  ]
  await play(all, leftOf)
  const byResource = (windows: readonly MeterWindow[], charges: readonly Charge[]) =>
    leftOf(
      windows,
      charges.map((charge) => ({ ...charge, cell: charge.resource ?? '' })),
    )
  await assert.rejects(play(all, byResource), { name: 'AssertionError' })
})

test('charges that name no cell say how far all cells of their resource are charged', async () => {
  await using bench = await openTestCharging()
  bench.payer('acct_2', FUNDS)
  const windows = [61, 62].map((k) => windowBytes(windowAt(k, [shareOf(1, J, 0n)])))
  const chargedToMs = new Map([['workload:wl_2', 61_000]])
  const minutes = live(bench, new Map(), { windows, chargedToMs })
  assert.deepEqual([...minutes.leftToMs], [['wl_2', 62_000]])
  await minutes.charge('all')
  assert.deepEqual((await posted(bench)).map(chargeEnergy), [J])
})

test('planted: a new life that charges all windows again is found', async () => {
  const windows = Array.from({ length: 70 }, (): Step => ({ kind: 'window', uses: [[J, 0n]] }))
  const all: Step[] = [...windows, { kind: 'kill' }]
  await play(all, leftOf)
  await assert.rejects(
    play(all, (left) => leftOf(left, [])),
    { name: 'AssertionError' },
  )
  await assert.rejects(
    play(all, (_, charges) => leftOf([], charges)),
    { name: 'AssertionError' },
  )
})

test('a cell that changes its state is charged at once, and one that is gone', async () => {
  await using bench = await openTestCharging()
  bench.payer('acct_1', FUNDS)
  const states = new Map([['db-1', 'ready']])
  const minutes = live(bench, states)
  const add = async (k: number) => {
    minutes.add(windowAt(k, [shareOf(0, J, 0n)]))
    await minutes.charge('over')
    return (await posted(bench)).map(chargeEnergy)
  }
  assert.deepEqual(await add(1), [])
  states.set('db-1', 'stopping')
  assert.deepEqual(await add(2), [2n * J])
  states.delete('db-1')
  assert.deepEqual(await add(3), [2n * J, J])
})

test('minutes that the ledger does not answer for are kept, and charged when it answers', async () => {
  await using bench = await openTestCharging()
  bench.payer('acct_1', FUNDS)
  const minutes = live(bench, new Map([['db-1', 'ready']]))
  bench.answers = false
  minutes.add(windowAt(60, [shareOf(0, J, 0n)]))
  await minutes.charge('over')
  minutes.add(windowAt(120, [shareOf(0, 2n * J, 0n)]))
  bench.answers = true
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  await minutes.charge('over')
  assert.deepEqual((await posted(bench)).map(chargeEnergy), [J, 2n * J])
})

test('a minute of a function is charged as of functions, held or not', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', FUNDS)
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  const share = { ...shareOf(0, J, 0n), name: 'fn-1' }
  minutes.add(windowAt(61, [share]))
  await minutes.charge('all')
  holds.set('fn-1', await CellHold.take(bench.charging, payer, nj(J), cellOperationOf('fn-1')))
  minutes.add(windowAt(62, [share]))
  await minutes.charge('all')
  const charges = await posted(bench)
  assert.deepEqual(
    charges.map(({ operation }) => operation),
    ['function.standing', 'function.standing'],
  )
})

test('instances and the pull of a workload are charged as of the workload', async () => {
  await using bench = await openTestCharging()
  bench.payer('acct_1', FUNDS)
  const cells = ['wl-1-3-1', 'wl-1-3-2', 'wl-1-4-pull']
  const minutes = live(bench, new Map(cells.map((cell) => [cell, 'ready'])))
  minutes.add(
    windowAt(
      61,
      cells.map((name) => ({ ...shareOf(0, J, 0n), name })),
    ),
  )
  await minutes.charge('all')
  const charges = await posted(bench)
  assert.deepEqual(
    charges.map(({ operation, resource }) => `${operation} ${resource}`),
    cells.map(() => 'workload.standing workload:wl_1'),
  )
})

test('a charge has the energy of work and the idle part apart, held or not', async () => {
  await using bench = await openTestCharging()
  const payer = bench.payer('acct_1', FUNDS)
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  minutes.add(windowAt(61, [shareOf(0, 7n, 11n)]))
  await minutes.charge('all')
  holds.set('db-1', await CellHold.take(bench.charging, payer, nj(J)))
  minutes.add(windowAt(62, [shareOf(0, 3n, 5n)]))
  minutes.add(windowAt(63, [shareOf(0, 0n, 2n)]))
  await minutes.charge('all')
  const charges = await posted(bench)
  assert.deepEqual(
    charges.map(({ parts, energy_nj: energy }) => [
      energy,
      ...parts.slice(1).map((part) => [part.meter, part.energy_nj, part.idle]),
    ]),
    [
      ['18', ['m1', '7', undefined], ['m1', '11', true]],
      ['10', ['m1', '3', undefined], ['m1', '7', true]],
    ],
  )
})

test('each twentieth of a budget is charged before its minute is over', async () => {
  await using bench = await openTestCharging()
  const payer = { ...bench.payer('acct_1', FUNDS), njPerDay: String(40n * J) }
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  holds.set('db-1', await CellHold.take(bench.charging, payer, nj(J)))
  const energies = []
  for (const energy of [J, J, J / 2n, 3n * J]) {
    minutes.add(windowAt(61 + energies.length, [shareOf(0, energy, 0n)]))
    energies.push((await posted(bench)).map(chargeEnergy))
  }
  assert.deepEqual(energies, [[], [2n * J], [2n * J], [2n * J, (7n * J) / 2n]])
})

test('instances that have used a twentieth of their budget together are charged before their minute is over', async () => {
  await using bench = await openTestCharging()
  const payer = { ...bench.payer('acct_2', FUNDS), njPerDay: String(40n * J) }
  const holds = new Map<string, CellHold>()
  const minutes = createCellMinutes({
    charging: bench.charging,
    payerOf: () => payer,
    meter: 'm1',
    stateOf: () => 'ready',
    holds,
    log,
  })
  for (const cell of CELLS.slice(1))
    holds.set(cell, await CellHold.take(bench.charging, payer, nj(J), 'workload.standing'))
  const cellsAfter = async (k: number, energies: readonly bigint[]) => {
    const shares = energies.map((energy, place) => shareOf(place + 1, energy, 0n))
    minutes.add(windowAt(k, shares))
    return (await posted(bench)).map(({ cell, energy_nj: energy }) => `${cell} ${energy}`)
  }
  assert.deepEqual(await cellsAfter(61, [J, J - 1n]), [])
  assert.deepEqual(await cellsAfter(62, [0n, 1n]), [`wl-2-1-1 ${J}`, `wl-2-1-2 ${J}`])
})
