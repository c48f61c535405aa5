// The time that steps of models took on the GPU, as the cells that use it tell it: by it the energy of the GPU is split.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { CellReading } from '#metering/interval.ts'
import type { Ask } from '#node/cell-specs.ts'

/** The page of a cell's socket that tells it, cumulative: `{ gpu_ns: '…' }`. */
export const GPU_PAGE = '/gpu'

export interface GpuTime {
  /** The newest total of a cell. */
  take(cell: Cell, gpuNs: bigint): void
  /** The cells of now, with the totals that they last told. The operator pays for use between that and a cell's end. */
  read(): CellReading[]
  /** The processes on the GPU, as a text that changes with them: a model that starts raises the idle power. */
  processes(): string
}

export function createGpuTime(cells: Pick<Cells, 'list'>): GpuTime {
  const told = new WeakMap<Cell, bigint>()
  return {
    take: (cell, gpuNs) => void told.set(cell, gpuNs),
    processes: () =>
      gpuCells(cells)
        .map(({ spec, pid, state }) => `${spec.name} ${pid} ${state}`)
        .join(),
    read: () =>
      gpuCells(cells).map((cell) => ({
        name: cell.spec.name,
        payer: cell.spec.payer,
        cpuNs: told.get(cell) ?? 0n,
      })),
  }
}

const gpuCells = (cells: Pick<Cells, 'list'>): Cell[] =>
  cells.list().filter(({ spec }) => spec.usesGpu === true)

const TOTAL = /^\d{1,18}$/

/** Asks every cell that uses the GPU; the last total of a silent cell stays, and its next one has the rest. */
export async function askGpuTime(deps: {
  readonly gpuTime: Pick<GpuTime, 'take'>
  readonly cells: Pick<Cells, 'list'>
  readonly ask: Ask
  readonly log: Logger
  readonly signal: AbortSignal
}): Promise<void> {
  const { gpuTime, cells, ask, log, signal } = deps
  const ready = gpuCells(cells).filter(({ state }) => state === 'ready')
  await Promise.all(
    ready.map(async (cell) => {
      try {
        const answer = (await ask(cell.socket, GPU_PAGE, signal)) as { gpu_ns?: unknown }
        const { gpu_ns: total } = answer
        if (typeof total !== 'string' || !TOTAL.test(total)) throw new TypeError('no gpu_ns')
        gpuTime.take(cell, BigInt(total))
      } catch (error) {
        log.debug('A cell did not say how long it used the GPU', {
          cell: cell.spec.name,
          error: messageOf(error),
        })
      }
    }),
  )
}
