// The names of the cells of databases: `db-x` is the server of the database `db_x`, `db-x-backup` backs it up, and
// `db-x-restore` makes its files from a backup.
import { resourceOfCell } from '#ledger/budgets.ts'

export const CELL_PREFIX = 'db-'

export const cellNameOf = (id: string): string => `${CELL_PREFIX}${id.slice(id.indexOf('_') + 1)}`

export const workCellOf = (id: string, kind: 'backup' | 'restore'): string =>
  `${cellNameOf(id)}-${kind}`

/** The database that a cell runs for. */
export const databaseOfCell = resourceOfCell
