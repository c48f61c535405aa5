// Before each window the agent asks cells for a page of their inside. Such a page has the bills of a process, the cells that
// it worked for, or its time on the GPU.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cell, Cells, CellSpec } from '#cells/cell.ts'
import type { Ask } from '#node/cell-specs.ts'

export type AskCellsDeps = {
  readonly cells: Pick<Cells, 'list'>
  readonly ask: Ask
  readonly log: Logger
  readonly signal: AbortSignal
}

type CellPage = {
  readonly page: string
  /** True for the specs of cells that have the page. */
  readonly isOn: (spec: CellSpec) => boolean
  /** Asks by `answer`, and keeps the figures of the cell. */
  readonly take: (cell: Cell, answer: () => Promise<unknown>) => Promise<void>
}

/** Asks every ready cell that has the page, and returns these cells. A silent cell is noted in the log. */
export async function askCells(
  { cells, ask, log, signal }: AskCellsDeps,
  { page, isOn, take }: CellPage,
): Promise<readonly Cell[]> {
  const ready = cells.list().filter(({ spec, state }) => isOn(spec) && state === 'ready')
  await Promise.all(
    ready.map(async (cell) => {
      try {
        await take(cell, () => ask(cell.socket, page, signal))
      } catch (error) {
        log.debug('A cell did not tell the meter its figures', {
          cell: cell.spec.name,
          page,
          error: messageOf(error),
        })
      }
    }),
  )
  return ready
}
