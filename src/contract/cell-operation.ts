// The operations of running cells of accounts, by the product of the cell. No request asks for them.

export const CELL_OPERATIONS = ['cell.standing', 'function.standing', 'workload.standing'] as const
export type CellOperation = (typeof CELL_OPERATIONS)[number]

/** The kinds of cells are the beginnings of their names: `fn-x` runs the function `fn_x`. */
const OF_PREFIX: Readonly<Record<string, CellOperation>> = {
  fn: 'function.standing',
  wl: 'workload.standing',
}

export const cellOperationOf = (cell: string): CellOperation =>
  OF_PREFIX[cell.split('-', 1)[0] ?? ''] ?? 'cell.standing'
