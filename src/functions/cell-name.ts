// The names of functions as cells: `fn-x-3` runs version 3 of `fn_x`.
import { resourceOfCell } from '#ledger/budgets.ts'

export const FUNCTION_CELLS = 'fn-'

/** Cells that wait for a function (spares.ts). */
export const SPARE_CELLS = 'spare-'

export const functionCellOf = (id: string, version: number): string =>
  `${functionUserOf(id)}-${version}`

/** The name whose uid all versions of a function have. */
export const functionUserOf = (id: string): string =>
  `${FUNCTION_CELLS}${id.slice(id.indexOf('_') + 1)}`

export const functionOfCell = resourceOfCell
