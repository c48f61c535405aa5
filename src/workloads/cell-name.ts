// The names of workloads as cells: `wl-x-3-1` is the first instance of version 3 of `wl_x`, and `wl-x-3-pull` pulls its image.
import { resourceOfCell } from '#ledger/budgets.ts'

export const WORKLOAD_CELLS = 'wl-'

type OfVersion = { readonly id: string; readonly version: number }

export const workloadCellOf = ({
  id,
  version,
  instance,
}: OfVersion & { readonly instance: number }): string =>
  `${workloadUserOf(id)}-${version}-${instance}`

export const pullCellOf = ({ id, version }: OfVersion): string =>
  `${workloadUserOf(id)}-${version}-pull`

/** The name whose uid all versions of a workload have. */
export const workloadUserOf = (id: string): string =>
  `${WORKLOAD_CELLS}${id.slice(id.indexOf('_') + 1)}`

export const workloadOfCell = resourceOfCell
