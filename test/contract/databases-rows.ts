// Honest calls of the operations of databases, for the matrix.
import type { Row } from './matrix-row.ts'

const NAME = 'matrix'
const path = () => `/v1/databases/${NAME}`
// The rows run side by side: the first create makes it.
const statuses = [200, 404]

export const DATABASES_ROWS: Readonly<Record<string, Row>> = {
  'database.create': {
    path: () => '/v1/databases',
    body: { name: NAME },
    statuses: [201, 409],
    badBodies: [
      { body: {}, param: 'name' },
      { body: { name: 'Not a name' }, param: 'name' },
      { body: { name: 'template1' }, param: 'name' },
      { body: { name: NAME, size: '1 kB' }, param: 'size' },
      { body: { name: NAME, region: 'moon' }, param: 'region' },
      { body: { name: NAME, energy_budget: '5 kJ' }, param: 'energy_budget' },
      { body: { name: NAME, engine: 'mysql' }, param: 'engine' },
      { body: { name: NAME, from: {} }, param: 'from.database' },
      { body: { name: NAME, from: { database: NAME, time: 'noon' } }, param: 'from.time' },
      {
        body: { name: NAME, from: { database: NAME, time: '2026-01-01T00:00:00Z', backup: 'x' } },
        param: 'from',
      },
    ],
  },
  'database.list': { path: () => '/v1/databases' },
  'database.get': { path, statuses },
  'database.url': { path: () => `${path()}/url`, statuses },
  'database.update': {
    path,
    body: { size: '2GB' },
    statuses,
    badBodies: [
      { body: {}, param: null },
      { body: { size: 'small' }, param: 'size' },
      { body: { suspended: 'yes' }, param: 'suspended' },
      { body: { energy_budget: 5000 }, param: 'energy_budget' },
      { body: { energy_budget: '1 J/day' }, param: 'energy_budget' },
      { body: { upgrade: false }, param: 'upgrade' },
      { body: { region: 'moon' }, param: 'region' },
    ],
  },
  'database.energy': { path: () => `${path()}/energy?by=minute`, statuses },
  'database.intervals': { path: () => `${path()}/intervals?limit=10`, statuses },
  'database.queries': { path: () => `${path()}/queries`, statuses },
  'database.query': {
    path: () => `${path()}/query`,
    body: { sql: 'select 1' },
    statuses: [200, 404, 409],
    badBodies: [
      { body: {}, param: 'sql' },
      { body: { sql: 'select 1', max_rows: 0 }, param: 'max_rows' },
      { body: { sql: 'select 1', role: 'owner' }, param: 'role' },
    ],
  },
  'database-query.ceiling': { path: () => `${path()}/query/ceiling`, statuses },
  'database-role.list': { path: () => `${path()}/roles`, statuses },
  'database-role.create': {
    path: () => `${path()}/roles`,
    body: { name: 'reporting' },
    statuses: [201, 404, 409],
    badBodies: [
      { body: {}, param: 'name' },
      { body: { name: 'Not a name' }, param: 'name' },
      { body: { name: 'writer', read_only: 'yes' }, param: 'read_only' },
    ],
  },
  'database-role.rotate': { path: () => `${path()}/roles/owner/password`, statuses },
  'database-role.delete': { path: () => `${path()}/roles/none`, statuses: [404] },
  'database-backup.create': {
    path: () => `${path()}/backups`,
    body: {},
    statuses: [201, 404, 409],
    badBodies: [{ body: { kind: 'weekly' }, param: 'kind' }],
  },
  'database-backup.list': { path: () => `${path()}/backups`, statuses },
  'database-backup.get': { path: () => `${path()}/backups/none`, statuses: [404] },
  'database-backup.delete': { path: () => `${path()}/backups/none`, statuses: [404] },
  'database.delete': { path: () => '/v1/databases/none', statuses: [404] },
}
