// Honest calls of the operations of deployments, for the matrix.
import type { Row } from './matrix-row.ts'

const stack = 'matrix'
const description = ''

export const DEPLOYMENTS_ROWS: Readonly<Record<string, Row>> = {
  'deployment.create': {
    path: () => '/v1/deployments',
    body: { stack, description },
    statuses: [201],
    // Of an account two plans are made at once.
    isOneByOne: true,
    badBodies: [
      { body: { description }, param: 'stack' },
      { body: { stack: 'Not a stack', description }, param: 'stack' },
      { body: { stack }, param: 'description' },
      { body: { stack, description: '#'.repeat(262_145) }, param: 'description' },
      { body: { stack, description, variables: { a: 1 } }, param: 'variables.a' },
      { body: { stack, description, files: { 'a.ts': 'x' } }, param: 'files.a.ts' },
      { body: { stack, description, dry_run: 'yes' }, param: 'dry_run' },
      { body: { stack, description, force: true }, param: 'force' },
    ],
  },
  'deployment.list': { path: () => '/v1/deployments?limit=3' },
  'deployment.get': { path: () => '/v1/deployments/none', statuses: [404] },
  'deployment.cancel': { path: () => '/v1/deployments/none', statuses: [404] },
}
