// The names of functions as cells: `fn-x` runs `fn_x`.
import { resourceOfCell } from '#ledger/budgets.ts'

export const FUNCTION_CELLS = 'fn-'

export const functionCellOf = (id: string): string =>
  `${FUNCTION_CELLS}${id.slice(id.indexOf('_') + 1)}`

export const functionOfCell = resourceOfCell
