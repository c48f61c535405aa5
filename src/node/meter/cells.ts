// The cells' counters as the meter reads them. A cell that has stopped is read once more: what it used
// since the window before is still its payer's.
import { totalmem } from 'node:os'
import type { Clock } from '#base/clock.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { CellReading } from '#metering/interval.ts'
import { createCausedCpu, type CausedCpu } from './caused-cpu.ts'

export interface CellReader {
  /**
   * Reads every cell of now and every one that has gone since the last call. A cell reserves memory from one call to
   * the next where it was there at both: parts of a second are the operator's.
   */
  read(): CellReading[]
  /** When that was, by the monotonic clock. */
  readonly readMs: number
  /** CPU of a cell since then, without what others do for it. */
  since(cell: Cell): bigint
}

export function createCellReader(
  cells: Pick<Cells, 'list'>,
  clock: Pick<Clock, 'monotonicMs'>,
  caused: Pick<CausedCpu, 'move'> = createCausedCpu(),
): CellReader {
  let before: readonly Cell[] = []
  let readMs = clock.monotonicMs()
  /** The CPU of each cell. The key is the cell and not its name, because the next cell of a name counts from nothing. */
  let read: ReadonlyMap<Cell, bigint> = new Map()
  return {
    read() {
      const now = cells.list()
      const names = new Set(now.map((cell) => cell.spec.name))
      const earlier = new Set(before)
      const gone = before.filter((cell) => !names.has(cell.spec.name))
      before = now
      readMs = clock.monotonicMs()
      read = new Map([...now, ...gone].map((cell) => [cell, cell.cpuNs()]))
      return [...caused.move(read)].map(([cell, cpuNs]) => {
        const { name, payer } = cell.spec
        const isWhole = earlier.has(cell) && names.has(name) && cell.state !== 'waiting'
        return { name, payer, cpuNs, reservedPpb: isWhole ? reservedPpb(cell) : 0 }
      })
    },
    get readMs() {
      return readMs
    },
    since: (cell) => cell.cpuNs() - (read.get(cell) ?? 0n),
  }
}

/** Billionths of the machine's memory that an account keeps for its cell; the operator's cells reserve none. */
export const reservedPpb = ({ spec: { payer, limits } }: Cell): number =>
  payer.kind === 'account' ? Math.floor((1e9 * (limits.memoryBytes ?? 0)) / totalmem()) : 0
