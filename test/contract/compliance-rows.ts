// Honest calls of the operations of evidence packs, for the matrix.
import type { Row } from './matrix-row.ts'

const from = '2026-01-01T00:00:00Z'
const to = '2026-02-01T00:00:00Z'

export const COMPLIANCE_ROWS: Readonly<Record<string, Row>> = {
  'pack.create': {
    path: () => '/v1/compliance/packs',
    body: { from, to },
    statuses: [202, 409],
    badBodies: [
      { body: { to }, param: 'from' },
      { body: { from }, param: 'to' },
      { body: { from: 'January', to }, param: 'from' },
      { body: { from, to: from }, param: 'to' },
      { body: { from: to, to: from }, param: 'to' },
      { body: { from, to: '2027-01-03T00:00:00Z' }, param: 'to' },
      { body: { from, to: '9999-01-01T00:00:00Z' }, param: 'to' },
      { body: { from, to, account: 'acct_other' }, param: 'account' },
    ],
  },
  'pack.list': { path: () => '/v1/compliance/packs?limit=3' },
  'pack.get': { path: () => '/v1/compliance/packs/none', statuses: [404] },
  'pack.content': { path: () => '/v1/compliance/packs/none/content', statuses: [404] },
  'pack.delete': { path: () => '/v1/compliance/packs/none', statuses: [404] },
}
