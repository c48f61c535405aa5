// The names of the servers of databases as cells: `db-x` runs for the database `db_x`.
import { resourceOfCell } from '#ledger/budgets.ts'

export const CELL_PREFIX = 'db-'

export const cellNameOf = (id: string): string => `${CELL_PREFIX}${id.slice(id.indexOf('_') + 1)}`

/** The database that a server runs for. */
export const databaseOfCell = resourceOfCell
