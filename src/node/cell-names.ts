// The names of cells, and of the groups of their sockets, that more than one area knows.
import type { Config } from '#config/config.ts'

/** Cells of models are `model-` and the model's name. */
export const MODEL_CELLS = 'model-'
export const GATEWAY_SOCKETS = 'gateways'
/** The cell of webhooks, and its group. */
export const WEBHOOKS_CELL = 'webhooks'
/** The cell of the ingress, and its group. */
export const INGRESS_CELL = 'ingress'

/** The model of a cell; undefined for the other cells. */
export const modelOfCell = (cell: string): string | undefined =>
  cell.startsWith(MODEL_CELLS) ? cell.slice(MODEL_CELLS.length) : undefined

/** The names of the gateways that a start has. */
export const gatewayNames = ({ gateways }: Pick<Config, 'gateways'>): string[] =>
  Array.from({ length: gateways }, (_, index) => `gw-${index + 1}`)
