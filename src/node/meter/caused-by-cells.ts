// CPU of this process by the cell that caused it. The agent asks for it each second, and it becomes part of the cell's share
// (caused-cpu.ts). All other CPU is the operator's.
import type { Readable } from 'node:stream'
import type { Marks } from '#metering/marks.ts'
import { createPipeMarks, type PipeMarks } from '#metering/pipe-marks.ts'
import type { CausedTotals } from './caused-cpu.ts'

/** Work that a cell causes, such as that of a connection. */
export interface CausedWork {
  /** All CPU of this process since the last mark or piece is its cell's. */
  mark(): void
  /** So many bytes were read for it, and what follows from them at once is its cell's. */
  piece(bytes: number): void
  /** Each chunk of a stream is a piece of its cell's; to be called when the stream has its reader. */
  count(stream: Readable): void
  /** Nothing of it is open any more. */
  end(): void
}

export interface CausedByCells {
  begin(cell: string): CausedWork
  /** Work for no cell, which the operator pays: neighbours pay none of it. */
  readonly nobody: Pick<CausedWork, 'mark'> & Pick<PipeMarks, 'disturb'>
  /** Cumulative nanoseconds of CPU by the name of the cell. */
  totals(): CausedTotals
}

/** Polls without a change after which a cell without connections is forgotten: an answer may have been lost. */
const LOOKS_KEPT = 60

type Owner = { cpuNs: number; open: number; toldNs: number; looks: number }

/** The marks of a process that works for cells, and who pays for the work of none. */
export type CausedMarks = Pick<PipeMarks, 'piece' | 'mark'> & {
  /** Absent where pieces have no learned cost. */
  readonly disturb?: PipeMarks['disturb']
  readonly accounting: Pick<Marks, 'operator'>
}

export function createCausedByCells(marks: CausedMarks = createPipeMarks()): CausedByCells {
  const owners = new Map<string, Owner>()
  const ownerOf = (cell: string): Owner => {
    const owner = owners.get(cell) ?? { cpuNs: 0, open: 0, toldNs: 0, looks: 0 }
    owners.set(cell, owner)
    return owner
  }
  const { operator } = marks.accounting
  return {
    nobody: { mark: () => marks.mark(operator), disturb: (forMs) => marks.disturb?.(forMs) },
    begin(cell) {
      const owner = ownerOf(cell)
      owner.open++
      return {
        mark: () => marks.mark(owner),
        piece: (bytes) => marks.piece(owner, bytes),
        count: (stream) =>
          void stream.on('data', ({ length }: Buffer) => marks.piece(owner, length)),
        end() {
          marks.mark(owner)
          owner.open--
        },
      }
    },
    totals() {
      marks.mark(operator)
      const totals: Record<string, number> = {}
      for (const [cell, owner] of owners) {
        totals[cell] = owner.cpuNs
        owner.looks = owner.open === 0 && owner.cpuNs === owner.toldNs ? owner.looks + 1 : 0
        owner.toldNs = owner.cpuNs
        if (owner.looks >= LOOKS_KEPT) owners.delete(cell)
      }
      return totals
    },
  }
}
