// The cells' counters as the meter reads them. A cell that has stopped is read once more: what it used
// since the window before is still its payer's.
import { totalmem } from 'node:os'
import type { Cell, Cells } from '#cells/cell.ts'
import type { CellReading } from '#metering/interval.ts'

/** A function that reads every cell of now and every one that has gone since its last call. */
export function createCellReader(cells: Pick<Cells, 'list'>): () => CellReading[] {
  let before: readonly Cell[] = []
  return () => {
    const now = cells.list()
    const names = new Set(now.map((cell) => cell.spec.name))
    const gone = before.filter((cell) => !names.has(cell.spec.name))
    before = now
    return [...now, ...gone].map((cell) => ({
      name: cell.spec.name,
      payer: cell.spec.payer,
      cpuNs: cell.cpuNs(),
      reservedMilli: reservedMilli(cell),
    }))
  }
}

/** Thousandths of the machine's memory that an account keeps for its cell; what the operator's have is the operator's. */
const reservedMilli = ({ spec: { payer, limits } }: Cell): number =>
  payer.kind === 'account'
    ? Math.min(1000, Math.ceil((1000 * (limits.memoryBytes ?? 0)) / totalmem()))
    : 0
