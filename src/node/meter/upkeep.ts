// The upkeep of a node, of the cells that do it: before each window the agent asks them for their totals (metering/upkeep.ts).
import type { Cell } from '#cells/cell.ts'
import { addUpkeep, NO_UPKEEP, type UpkeepTotals, type UpkeepWork } from '#metering/upkeep.ts'
import { askCells, type AskCellsDeps } from './ask-cells.ts'

/** The page of such a cell's inside: its totals. */
export const UPKEEP_PAGE = '/upkeep'

export interface NodeUpkeep {
  /** The newest totals of a cell. */
  take(cell: object, totals: UpkeepTotals): void
  /** All that cells have told since the call before. */
  next(): UpkeepWork
}

export function createNodeUpkeep(): NodeUpkeep {
  const last = new WeakMap<object, UpkeepTotals>()
  let sum = NO_UPKEEP
  return {
    take(cell, totals) {
      const known = last.get(cell)
      // A life begins with the CPU of its start, which no window of a ready cell has.
      const before = known?.life === totals.life ? known : totals
      // CPU that an account pays is known a moment later than the CPU of the process, and the total falls then. The same CPU
      // on the way up again was counted before.
      const ownNs = Math.max(before.ownNs, totals.ownNs)
      last.set(cell, { ...totals, ownNs })
      sum = addUpkeep(sum, {
        ownNs: ownNs - before.ownNs,
        stateNs: totals.stateNs - before.stateNs,
      })
    },
    next() {
      const all = sum
      sum = NO_UPKEEP
      return all
    },
  }
}

/** Asks every cell that does upkeep; the next answer has the work of a silent one. */
export async function askUpkeep({
  upkeep,
  ...deps
}: AskCellsDeps & { readonly upkeep: Pick<NodeUpkeep, 'take'> }): Promise<void> {
  await askCells(deps, {
    page: UPKEEP_PAGE,
    isOn: ({ doesUpkeep }) => doesUpkeep === true,
    async take(cell: Cell, answer) {
      upkeep.take(cell, (await answer()) as UpkeepTotals)
    },
  })
}
