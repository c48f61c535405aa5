// Requests and replies of the routed operations of databases.
import { json, ok, type Descriptions } from '#contract/description.ts'
import * as databases from './databases.ts'
import { intervalList, intervalsQuery } from '#contract/resources/intervals.ts'
import type { DATABASES } from './operations.ts'

export const DATABASES_DESCRIPTIONS: Descriptions<typeof DATABASES> = {
  'database.create': {
    summary:
      'Create a database: a PostgreSQL 16 server of its own, empty, or from the backups of another one',
    request: databases.databaseRequest,
    replies: { 201: { help: 'The database, on its way', media: json(databases.databaseReply) } },
    refusals: [
      'database_exists',
      'database_not_found',
      'backup_not_found',
      'database_not_restorable',
      'too_many_databases',
      'databases_off',
    ],
  },
  'database.list': {
    summary: 'The databases of the account, the oldest first',
    replies: ok('The databases', json(databases.databaseList)),
  },
  'database.get': {
    summary: 'A database, by its id or its name',
    replies: ok('The database', json(databases.databaseReply)),
    refusals: ['database_not_found'],
  },
  'database.url': {
    summary: 'The connection string of the owner, or of the role in the query, with the password',
    query: databases.databaseUrlQuery,
    replies: ok('The connection string', json(databases.databaseUrl)),
    refusals: ['database_not_found', 'database_role_not_found', 'databases_off'],
  },
  'database.update': {
    summary:
      'Change the size or the energy budget of a database, suspend or resume it, upgrade its extensions',
    request: databases.databaseChange,
    replies: ok('The database', json(databases.databaseReply)),
    refusals: ['database_not_found', 'database_not_ready', 'database_suspended', 'databases_off'],
  },
  'database.energy': {
    summary: 'The energy of a database as it was charged, with its carbon and price, by time',
    query: databases.databaseEnergyQuery,
    replies: ok('The energy', json(databases.databaseEnergy)),
    refusals: ['database_not_found'],
  },
  'database.intervals': {
    summary:
      'When the server of a database was awake, what woke it and why it slept, the newest first',
    query: intervalsQuery,
    replies: ok('The intervals', json(intervalList)),
    refusals: ['database_not_found'],
  },
  'database.queries': {
    summary: 'The queries of a database, with an estimate of the energy of each',
    replies: ok('The queries', json(databases.databaseQueries)),
    refusals: ['database_not_found'],
  },
  'database.query': {
    summary:
      'Run one statement that reads, and wake the database for it; Idempotency-Key is ignored, for nothing is changed',
    request: databases.databaseQueryRequest,
    replies: ok('The rows', json(databases.databaseQueryReply)),
    refusals: [
      'database_not_found',
      'database_not_ready',
      'database_suspended',
      'database_query_failed',
      'database_query_read_only',
      'too_many_requests',
      'database_result_too_large',
      'databases_off',
      'overloaded',
    ],
  },
  'database-query.ceiling': {
    summary: 'The most that a query can cost; no database is woken',
    replies: ok('The ceiling', json(databases.databaseQueryCeiling)),
    refusals: ['database_not_found'],
  },
  'database.delete': {
    summary:
      'Delete a database; it can be restored from its backups for some days. A repetition changes nothing',
    replies: ok('It is being deleted, or was before', json(databases.databaseDeleted)),
    refusals: ['database_not_found'],
  },
  'database-role.list': {
    summary: 'The roles of a database, its owner first',
    replies: ok('The roles', json(databases.databaseRoleList)),
    refusals: ['database_not_found'],
  },
  'database-role.create': {
    summary: 'Create a role that may do what the owner of the database may, or only reads',
    request: databases.databaseRoleRequest,
    replies: { 201: { help: 'The role, on its way', media: json(databases.databaseRoleReply) } },
    refusals: ['database_not_found', 'database_role_exists', 'databases_off'],
  },
  'database-role.rotate': {
    summary: 'Give a role a new password: the old one is refused after a second',
    replies: ok('The role', json(databases.databaseRoleReply)),
    refusals: ['database_not_found', 'database_role_not_found', 'databases_off'],
  },
  'database-role.delete': {
    summary: 'Delete a role; what it owns becomes the owner’s',
    replies: ok('It is being deleted', json(databases.databaseRoleDeleted)),
    refusals: ['database_not_found', 'database_role_not_found'],
  },
  'database-backup.create': {
    summary: 'Take a backup now, which is kept until it is deleted',
    request: databases.backupRequest,
    replies: { 201: { help: 'The backup, on its way', media: json(databases.backupReply) } },
    refusals: [
      'database_not_found',
      'database_not_ready',
      'database_suspended',
      'too_many_backups',
      'databases_off',
    ],
  },
  'database-backup.list': {
    summary: 'The backups of a database, the newest first; by id also those of a deleted one',
    replies: ok('The backups', json(databases.backupList)),
    refusals: ['database_not_found'],
  },
  'database-backup.get': {
    summary: 'A backup',
    replies: ok('The backup', json(databases.backupReply)),
    refusals: ['database_not_found', 'backup_not_found'],
  },
  'database-backup.delete': {
    summary:
      'Delete a backup; one that the times of the retention need becomes a nightly one, which ends with them',
    replies: ok('It is deleted, or a nightly one', json(databases.backupDeleted)),
    refusals: ['database_not_found', 'backup_not_found', 'backup_not_deletable'],
  },
}
