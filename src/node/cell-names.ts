// The names of the cells of models: `model-` and the model's name.
export const MODEL_CELLS = 'model-'

/** The model of a cell; undefined for the other cells. */
export const modelOfCell = (cell: string): string | undefined =>
  cell.startsWith(MODEL_CELLS) ? cell.slice(MODEL_CELLS.length) : undefined
