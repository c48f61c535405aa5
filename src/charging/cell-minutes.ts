// Charges of the cells of accounts. The shares of a cell in the meter's windows, dynamic and reserved, become one
// charge for each minute and each change of its state. Each nanojoule of a share is charged once: the charges of a cell
// are made in order, and each names the last window in it. After a kill the windows behind the last charge remain.
import { dayBeginOf } from '#base/clock.ts'
import { add, type Nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { cellOperationOf } from '#contract/ledger/cell-operation.ts'
import { chargedId, chargedResource } from '#contract/ledger/charged-resource.ts'
import { resourceOfCell } from '#ledger/budgets.ts'
import type { CellWindows } from '#ledger/cell-windows.ts'
import { parseWindow } from '#metering/window-record.ts'
import type { MeterWindow } from '#metering/window.ts'
import type { CellHold } from './cell-hold.ts'
import {
  chargeDues,
  type StandingDue,
  type StandingDeps,
  type StandingProduct,
} from './standing.ts'

export interface CellMinutes {
  /** Adds a window that is journaled. */
  add(window: MeterWindow): void
  /** Charges the minutes that are over, or all that there is; what the ledger does not answer for is kept. */
  charge(which: 'over' | 'all'): Promise<void>
  /** Charges now what windows have measured of a cell. */
  settle(cell: string): void
  /** The end of what an earlier life left uncharged of the standing cells of each resource, by its id. */
  readonly leftToMs: ReadonlyMap<string, number>
}

export type CellMinutesDeps = StandingDeps & {
  /** The meter of the windows. */
  readonly meter: string
  /** The state of a cell; undefined of a cell that is gone. */
  readonly stateOf: (cell: string) => string | undefined
  /** Energy that is held ahead, by the cell. */
  readonly holds?: ReadonlyMap<string, CellHold>
  /** Windows that an earlier life measured and did not charge. */
  readonly left?: CellWindows
}

/** The use of a cell in a window. */
type CellUseOfWindow = StandingDue & {
  readonly cell: string
  readonly known: EnergyBand
  readonly idleNj: Nj
}

/** A cell's windows of one minute and state. */
type Minute = CellUseOfWindow & {
  readonly minute: number
  readonly state: string | undefined
}

const MINUTE_WINDOWS = 60
const WINDOW_MS = 1000
/** A part of a day's budget that is used is charged before its minute is over, at most once a window. */
const BUDGET_PARTS = 20n
/** Uncharged minutes of all cells together; more are the operator's. */
const MINUTES_MAX = 10_000

export function createCellMinutes(deps: CellMinutesDeps): CellMinutes {
  const { stateOf, left, holds } = deps
  const known = { method: 'model', bandPct: 0 } as const
  const product: StandingProduct = {
    operation: 'cell.standing',
    meter: deps.meter,
    known,
    name: 'cells of accounts',
  }
  const open = new Map<string, Minute>()
  let over: Minute[] = []
  let charging: Promise<void> | undefined

  const end = (cell: string) => {
    const minute = open.get(cell)
    open.delete(cell)
    if (minute === undefined) return
    // In their order: behind a minute that waits for the ledger, later ones wait too.
    const isNext = over.every((other) => other.cell !== cell)
    if (isNext && holds?.get(cell)?.settle(minute, { meter: deps.meter, ...minute.known }) === true)
      return
    if (over.length < MINUTES_MAX) over.push(minute)
  }
  const take = (window: MeterWindow, state: CellMinutesDeps['stateOf']) => {
    const minute = Math.ceil(window.k / MINUTE_WINDOWS)
    for (const [cell, due] of duesOf(window)) {
      if (open.get(cell)?.minute !== minute) end(cell)
      holds?.get(cell)?.measured(due.energyNj, due.toMs)
      const before = open.get(cell)
      open.set(cell, before ? merged(before, due) : { ...due, minute, state: state(cell) })
    }
    for (const cell of cellsOfMuchBudget(holds)) end(cell)
    for (const [cell, { state: before }] of open)
      if (window.k % MINUTE_WINDOWS === 0 || state(cell) === undefined || state(cell) !== before)
        end(cell)
  }
  if (left !== undefined)
    for (const bytes of left.windows) take(unchargedOf(parseWindow(bytes), left), () => 'left')
  for (const cell of open.keys()) end(cell)
  const leftToMs = endsOf(over)

  /** The oldest minute of each cell first: a later one is charged when those before it are. */
  const chargeOver = async () => {
    const kept = new Set<string>()
    for (;;) {
      const oldest = new Map<string, Minute>()
      for (const minute of over.toReversed())
        if (!kept.has(minute.cell)) oldest.set(minute.cell, minute)
      if (oldest.size === 0) return
      const uncharged = await chargeDues(deps, product, [...oldest.values()])
      for (const { cell } of uncharged) kept.add(cell)
      over = over.filter((minute) => oldest.get(minute.cell) !== minute || kept.has(minute.cell))
    }
  }
  return {
    add: (window) => take(window, stateOf),
    settle: end,
    leftToMs,
    async charge(which) {
      await charging
      if (which === 'all') for (const cell of open.keys()) end(cell)
      charging = chargeOver().finally(() => (charging = undefined))
      await charging
    },
  }
}

/**
 * The cells that have used a part of the budget of their resource, together. The warning of a budget comes with a
 * charge: a late one would be a late warning.
 */
function cellsOfMuchBudget(holds: CellMinutesDeps['holds'] = new Map()): string[] {
  const measured = new Map<string, bigint>()
  const limited = [...holds].filter(([, { payer }]) => payer.njPerDay !== undefined)
  for (const [cell, { measuredNj }] of limited) {
    const resource = resourceOfCell(cell)
    measured.set(resource, (measured.get(resource) ?? 0n) + measuredNj)
  }
  const isMuch = ([cell, { payer }]: (typeof limited)[number]) =>
    (measured.get(resourceOfCell(cell)) ?? 0n) * BUDGET_PARTS >= BigInt(payer.njPerDay ?? 0)
  return limited.filter(isMuch).map(([cell]) => cell)
}

/** The ends of minutes of standing cells, by the id of their resource. */
function endsOf(minutes: readonly Minute[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  for (const { operation, resource, toMs } of minutes) {
    const id = chargedId(resource)
    if (operation !== 'database.backup') ends.set(id, Math.max(ends.get(id) ?? 0, toMs))
  }
  return ends
}

/** The use of each cell of an account in a window, by its name. */
function duesOf(window: MeterWindow): Map<string, CellUseOfWindow> {
  const closedMs = window.k * WINDOW_MS
  const fromMs = closedMs - Math.round(Number(window.elapsedNs) / 1e6)
  // The last window of a day counts on that day.
  const toMs = closedMs === dayBeginOf(closedMs) ? closedMs - 1 : closedMs
  const { method, bandPct } = window
  const dues = new Map<string, CellUseOfWindow>()
  for (const { name, payer, dynamicNj, idleNj } of window.shares) {
    const energyNj = add(dynamicNj, idleNj)
    if (payer.kind !== 'account' || energyNj === 0n) continue
    const { account } = payer
    const resource = resourceOf(name)
    const operation = cellOperationOf(name)
    const known = { method, bandPct }
    const due = { account, resource, cell: name, operation, energyNj, idleNj, fromMs, toMs, known }
    dues.set(name, due)
  }
  return dues
}

const resourceOf = (cell: string): string => chargedResource(resourceOfCell(cell))

/** The minute with one window more. */
const merged = (minute: Minute, due: CellUseOfWindow): Minute => ({
  ...minute,
  energyNj: add<Nj>(minute.energyNj, due.energyNj),
  idleNj: add<Nj>(minute.idleNj, due.idleNj),
  toMs: due.toMs,
  known: due.known.bandPct > minute.known.bandPct ? due.known : minute.known,
})

/** The window without the shares that are charged. */
function unchargedOf(window: MeterWindow, { chargedToMs }: CellWindows): MeterWindow {
  const toMs = (cell: string) => chargedToMs.get(cell) ?? chargedToMs.get(resourceOf(cell)) ?? 0
  const shares = window.shares.filter(({ name }) => window.k > Math.ceil(toMs(name) / WINDOW_MS))
  return { ...window, shares }
}
