// The operations of running cells of accounts, by the product of the cell. No request asks for them.

export const CELL_OPERATIONS = [
  'cell.standing',
  'database.backup',
  'function.standing',
  'workload.standing',
] as const
export type CellOperation = (typeof CELL_OPERATIONS)[number]

/** The kinds of cells are the beginnings of their names: `fn-x` runs the function `fn_x`. */
const OF_PREFIX: Readonly<Record<string, CellOperation>> = {
  fn: 'function.standing',
  wl: 'workload.standing',
}
/** `db-x` is the server of the database `db_x`, `db-x-backup` and `db-x-restore` work for the database. */
const DATABASE_WORK: ReadonlySet<string> = new Set(['backup', 'restore'])

export function cellOperationOf(cell: string): CellOperation {
  const [kind = '', , work = ''] = cell.split('-', 3)
  if (kind === 'db' && DATABASE_WORK.has(work)) return 'database.backup'
  return OF_PREFIX[kind] ?? 'cell.standing'
}
