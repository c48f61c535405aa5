// The time that steps of models took on the GPU, as the cells that use it tell it: by it the energy of the GPU is split.
import type { Clock } from '#base/clock.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { CellReading } from '#metering/interval.ts'
import { askCells, type AskCellsDeps } from './ask-cells.ts'

/** The page of a cell's socket that tells it, cumulative: `{ gpu_ns: '…' }`. */
export const GPU_PAGE = '/gpu'

export interface GpuTime {
  /**
   * The newest total of a cell. The steps of a cell follow each other, so no total rises faster than time: the rest of
   * such a rise is not taken.
   */
  take(cell: Cell, gpuNs: bigint): void
  /** The cells of now, with the totals that they last told. The operator pays for use between that and a cell's end. */
  read(): CellReading[]
  /** The processes on the GPU, as a text that changes with them: a model that starts raises the idle power. */
  processes(): string
  /** True while a model is loaded, which may take minutes: the idle power rises when its context is made. */
  isLoading(): boolean
}

/** The total of a cell, and the part of the total that was taken. */
type CellTotal = {
  readonly totalNs: bigint
  readonly takenNs: bigint
  /** Time that the cell has not reported yet: of a step under way. */
  readonly spareNs: bigint
  readonly atMs: number
}

/** A cell reports a step at its end, and most steps end within a second. A new cell has that much of its own. */
const SPARE_NS_MAX = 1_000_000_000n

export function createGpuTime(
  cells: Pick<Cells, 'list'>,
  clock: Pick<Clock, 'monotonicMs'>,
): GpuTime {
  const lastTotals = new WeakMap<Cell, CellTotal>()
  return {
    take(cell, totalNs) {
      const atMs = clock.monotonicMs()
      const before = lastTotals.get(cell) ?? { ...NOTHING_TOLD, atMs }
      // A total that fell began anew.
      const roseNs = totalNs < before.totalNs ? totalNs : totalNs - before.totalNs
      const mostNs = BigInt(Math.round((atMs - before.atMs) * 1e6)) + before.spareNs
      const takenNs = smaller(roseNs, mostNs)
      lastTotals.set(cell, {
        totalNs,
        takenNs: before.takenNs + takenNs,
        spareNs: smaller(mostNs - takenNs, SPARE_NS_MAX),
        atMs,
      })
    },
    processes: () =>
      gpuCells(cells)
        .map(({ spec, pid, state }) => `${spec.name} ${pid} ${state}`)
        .join(),
    isLoading: () => gpuCells(cells).some(({ state }) => state === 'starting'),
    read: () =>
      gpuCells(cells).map((cell) => ({
        name: cell.spec.name,
        payer: cell.spec.payer,
        cpuNs: lastTotals.get(cell)?.takenNs ?? 0n,
      })),
  }
}

const NOTHING_TOLD = { totalNs: 0n, takenNs: 0n, spareNs: SPARE_NS_MAX }
const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

const gpuCells = (cells: Pick<Cells, 'list'>): Cell[] =>
  cells.list().filter(({ spec }) => spec.usesGpu === true)

const TOTAL = /^\d{1,18}$/

/** Asks every cell that uses the GPU; the last total of a silent cell stays, and its next one has the rest. */
export async function askGpuTime({
  gpuTime,
  ...deps
}: AskCellsDeps & { readonly gpuTime: Pick<GpuTime, 'take'> }): Promise<void> {
  await askCells(deps, {
    page: GPU_PAGE,
    isOn: ({ usesGpu }) => usesGpu === true,
    async take(cell, answer) {
      const { gpu_ns: total } = (await answer()) as { readonly gpu_ns?: unknown }
      if (typeof total !== 'string' || !TOTAL.test(total)) throw new TypeError('no gpu_ns')
      gpuTime.take(cell, BigInt(total))
    },
  })
}
