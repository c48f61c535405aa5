// The holds of cells that have ended. They cover the energy of their cells in the next window, and are kept for a
// while. A start that finds nothing else gets their rest.
import { sleep, type Clock } from '#base/clock.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { CellHold } from '#charging/cell-hold.ts'

export type WindowsDeps = {
  /** When cells were last read for a window. */
  readonly readMs: () => number
  readonly clock: Pick<Clock, 'monotonicMs'>
}

type EndedHoldsDeps = WindowsDeps & {
  readonly cells: Pick<Cells, 'list'>
  readonly holds: Map<string, CellHold>
  /** Charges the energy that windows have measured of a cell, now. */
  readonly settle: (cell: string) => void
}

const READ_MAX_MS = 5000
const READ_CHECK_MS = 20

export type EndedHolds = ReturnType<typeof createEndedHolds>

/** Only those of cells that were seen to run: others are of cells that are about to start. */
export function createEndedHolds(deps: EndedHoldsDeps) {
  const { cells, holds, settle } = deps
  const seen = new WeakSet<Cell>()
  const begun = new WeakSet<CellHold>()
  return {
    /** To be called while cells run. */
    look() {
      for (const cell of cells.list()) {
        const hold = holds.get(cell.spec.name)
        if (hold === undefined || seen.has(cell)) continue
        seen.add(cell)
        begun.add(hold)
      }
    },
    /** Another life of the cell is about to start with the hold. */
    reuse: (hold: CellHold) => void begun.delete(hold),
    /** Gives back those of an account, once windows have measured their cells whole; false where there are none. */
    async giveBack(account: string): Promise<boolean> {
      const running = new Set(cells.list().map(({ spec }) => spec.name))
      const ended = [...holds].filter(
        ([cell, hold]) => hold.payer.account === account && begun.has(hold) && !running.has(cell),
      )
      if (ended.length === 0) return false
      await untilRead(deps)
      for (const [cell, hold] of ended) {
        if (holds.get(cell) !== hold || !begun.has(hold)) continue
        settle(cell)
        hold.end()
        holds.delete(cell)
      }
      return true
    },
  }
}

/** Resolves when a window has read the cells of now; the meter is given a while. */
export async function untilRead({ readMs, clock }: WindowsDeps): Promise<void> {
  const nowMs = clock.monotonicMs()
  while (readMs() < nowMs && clock.monotonicMs() < nowMs + READ_MAX_MS) await sleep(READ_CHECK_MS)
}
