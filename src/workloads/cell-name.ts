// The names of workloads as cells: `wl-x-3` runs version 3 of `wl_x`, and `wl-x-3-pull` pulls its image.
import { resourceOfCell } from '#ledger/budgets.ts'

export const WORKLOAD_CELLS = 'wl-'

export const workloadCellOf = ({
  id,
  version,
}: {
  readonly id: string
  readonly version: number
}): string => `${workloadUserOf(id)}-${version}`

/** The name whose uid all versions of a workload have: each name keeps its uid for good. */
export const workloadUserOf = (id: string): string =>
  `${WORKLOAD_CELLS}${id.slice(id.indexOf('_') + 1)}`

export const workloadOfCell = resourceOfCell
