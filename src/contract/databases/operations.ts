// Databases: PostgreSQL 16 with pgvector, one server for each database.
import { withoutModel, ownView, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const database = { ...withoutModel, service: 'databases', remembered: true } as const
const view = { ...database, ...ownView, remembered: false } as const
/** Also of an account that cannot pay: it is charged less afterwards. */
const removal = { ...database, scope: 'deploy', answeredUnpaid: true } as const
/** Makes or shows a password: at the portal a person confirms it with a passkey. */
const secret = { ...database, scope: 'deploy', needsTouch: true } as const

export const DATABASES = defineProduct({
  operations: {
    'database.create': { ...database, scope: 'deploy', idempotent: true },
    'database.list': view,
    'database.get': view,
    /** The address has the password in it. */
    'database.url': secret,
    'database.update': { ...database, scope: 'deploy', answeredUnpaid: 'suspension' },
    'database.energy': view,
    'database.intervals': view,
    'database.queries': view,
    'database.query': { ...database, scope: 'deploy' },
    'database-query.ceiling': {
      ...database,
      scope: 'read',
      remembered: false,
      answeredDeleting: true,
    },
    'database.delete': removal,
    'database-role.list': view,
    'database-role.create': { ...secret, idempotent: true },
    'database-role.rotate': secret,
    'database-role.delete': removal,
    'database-backup.create': { ...database, scope: 'deploy', idempotent: true },
    'database-backup.list': view,
    'database-backup.get': view,
    'database-backup.delete': removal,
    /** No request: a backup or a restore. */
    'database.backup': backgroundWork('databases'),
    /** No request: the CPU of the proxy for sessions of a database, by the minute. */
    'database.session': backgroundWork('databases'),
    /** No request: what a database stored for a minute. */
    'database.standing': backgroundWork('databases'),
  },
  routes: [
    { method: 'POST', path: '/v1/databases', operation: 'database.create', query: [] },
    { method: 'GET', path: '/v1/databases', operation: 'database.list', query: [] },
    { method: 'GET', path: '/v1/databases/:database', operation: 'database.get', query: [] },
    {
      method: 'GET',
      path: '/v1/databases/:database/url',
      operation: 'database.url',
      query: ['role'],
    },
    { method: 'PATCH', path: '/v1/databases/:database', operation: 'database.update', query: [] },
    { method: 'DELETE', path: '/v1/databases/:database', operation: 'database.delete', query: [] },
    {
      method: 'GET',
      path: '/v1/databases/:database/energy',
      operation: 'database.energy',
      query: ['from', 'to', 'by'],
    },
    {
      method: 'GET',
      path: '/v1/databases/:database/intervals',
      operation: 'database.intervals',
      query: ['from', 'to', 'limit', 'cursor'],
    },
    {
      method: 'GET',
      path: '/v1/databases/:database/queries',
      operation: 'database.queries',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/databases/:database/query',
      operation: 'database.query',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/databases/:database/query/ceiling',
      operation: 'database-query.ceiling',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/databases/:database/roles',
      operation: 'database-role.list',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/databases/:database/roles',
      operation: 'database-role.create',
      query: [],
    },
    {
      method: 'PUT',
      path: '/v1/databases/:database/roles/:role/password',
      operation: 'database-role.rotate',
      query: [],
    },
    {
      method: 'DELETE',
      path: '/v1/databases/:database/roles/:role',
      operation: 'database-role.delete',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/databases/:database/backups',
      operation: 'database-backup.create',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/databases/:database/backups',
      operation: 'database-backup.list',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/databases/:database/backups/:backup',
      operation: 'database-backup.get',
      query: [],
    },
    {
      method: 'DELETE',
      path: '/v1/databases/:database/backups/:backup',
      operation: 'database-backup.delete',
      query: [],
    },
  ],
})
