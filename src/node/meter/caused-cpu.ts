// CPU of a cell of ours that cells of accounts cause: the proxy of their connections counts it by cell. Before each window the
// agent asks for the totals, and moves so much from the reading of the proxy to those of the cells. So shares, budgets and
// charges of a cell include it, and all readings together stay what the machine measured.
import type { Cell } from '#cells/cell.ts'
import { askCells, type AskCellsDeps } from './ask-cells.ts'

/** The page of such a cell's inside: cumulative nanoseconds by the name of the causing cell. */
export const CAUSED_PAGE = '/caused'
export type CausedTotals = Readonly<Record<string, number>>

export interface CausedCpu {
  /**
   * The newest totals of a cell that works for others, and its CPU just before they were asked for. Up to there it is read for
   * the next window: else the operator would pay for what it does between its answer and that reading.
   */
  take(worker: Cell, cpuNs: bigint, totals: CausedTotals): void
  /**
   * The cumulative CPU of cells, each read once for a window, with what is moved. A worker gives no more than it used in the
   * window, so what is left to it never falls, whatever its page says.
   */
  move(read: ReadonlyMap<Cell, bigint>): ReadonlyMap<Cell, bigint>
}

/** A worker as it was last seen. */
type Seen = {
  readonly totals: CausedTotals
  /** Its CPU before it said them; undefined once a window has it. */
  cpuNs: bigint | undefined
  /** Said and not moved yet. */
  readonly owed: Map<string, bigint>
}

export function createCausedCpu(): CausedCpu {
  const workers = new WeakMap<Cell, Seen>()
  const moved = new WeakMap<Cell, bigint>()
  let before: ReadonlyMap<Cell, bigint> = new Map()
  const add = (cell: Cell, cpuNs: bigint) => moved.set(cell, (moved.get(cell) ?? 0n) + cpuNs)

  /** Moves what a worker owes. Of cells that are gone, and of those that no account pays, it stays the operator's. */
  const pay = (worker: Cell, usedNs: bigint, payees: ReadonlyMap<string, Cell>) => {
    const { owed } = workers.get(worker) ?? {}
    if (owed === undefined) return
    let leftNs = usedNs
    for (const [name, owedNs] of owed) {
      const cell = payees.get(name)
      const partNs = owedNs < leftNs ? owedNs : leftNs
      if (cell === undefined || partNs === owedNs) owed.delete(name)
      else owed.set(name, owedNs - partNs)
      if (cell === undefined) continue
      add(cell, partNs)
      add(worker, -partNs)
      leftNs -= partNs
    }
  }
  /** The counter of a cell, for this window. */
  const counterOf = (cell: Cell, cpuNs: bigint): bigint => {
    const seen = workers.get(cell)
    const counterNs = seen?.cpuNs ?? cpuNs
    if (seen !== undefined) seen.cpuNs = undefined
    return counterNs
  }
  return {
    take(worker, cpuNs, totals) {
      const nothing: Omit<Seen, 'cpuNs'> = { totals: {}, owed: new Map() }
      const { totals: last, owed } = workers.get(worker) ?? nothing
      for (const [name, totalNs] of Object.entries(totals)) {
        // The worker forgets cells that rest, and counts them from nothing.
        const lastNs = last[name] ?? 0
        const moreNs = totalNs >= lastNs ? totalNs - lastNs : totalNs
        if (moreNs > 0) owed.set(name, (owed.get(name) ?? 0n) + BigInt(moreNs))
      }
      workers.set(worker, { totals, cpuNs, owed })
    },
    move(read) {
      const counters = new Map([...read].map(([cell, cpuNs]) => [cell, counterOf(cell, cpuNs)]))
      const payees = new Map(
        [...read.keys()]
          .filter(({ spec }) => spec.payer.kind === 'account')
          .map((cell) => [cell.spec.name, cell]),
      )
      for (const [cell, cpuNs] of counters) pay(cell, cpuNs - (before.get(cell) ?? 0n), payees)
      before = counters
      return new Map([...counters].map(([cell, cpuNs]) => [cell, cpuNs + (moved.get(cell) ?? 0n)]))
    },
  }
}

/** Asks every cell that works for others; the next answer has what one did not say. */
export async function askCaused({
  caused,
  ...deps
}: AskCellsDeps & { readonly caused: Pick<CausedCpu, 'take'> }): Promise<void> {
  await askCells(deps, {
    page: CAUSED_PAGE,
    isOn: ({ worksForCells }) => worksForCells === true,
    async take(worker, answer) {
      const cpuNs = worker.cpuNs()
      caused.take(worker, cpuNs, (await answer()) as CausedTotals)
    },
  })
}
