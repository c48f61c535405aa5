// The honest call of the toy's operation, for the matrix.
import type { Row } from './matrix-row.ts'

export const TOY_ROWS: Readonly<Record<string, Row>> = {
  'toy.count': {
    path: () => '/v1/toy/count',
    body: { by: 1 },
    badBodies: [
      { body: { by: 'two' }, param: 'by' },
      { body: { by: 1, per: 2 }, param: 'per' },
    ],
  },
}
