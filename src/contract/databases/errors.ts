// The error codes of databases.
import { caller, service, type ErrorTable } from '#contract/error-entry.ts'

export const DATABASES_ERRORS = {
  database_not_found: caller(404, 'Check the name: `ergon db list`.', 'not_found_error'),
  database_exists: caller(409, 'Choose another name, or use the existing database.'),
  database_role_not_found: caller(404, 'Check the name: `ergon db role list`.', 'not_found_error'),
  database_role_exists: caller(409, 'Choose another name, or use the existing role.'),
  database_not_ready: caller(409, 'Wait until the database is deployed: `ergon db show`.'),
  database_suspended: caller(409, 'Resume the database first: `ergon db resume`.'),
  database_query_failed: caller(400, 'Correct the statement.'),
  database_query_read_only: caller(
    400,
    'A query by the API or the portal only reads. To write, connect to the address of the database: `psql "$(ergon db url NAME)"`.',
  ),
  database_result_too_large: caller(
    400,
    'Select fewer columns, or parts of long values: left(column, 1000).',
  ),
  too_many_databases: caller(409, 'Delete a database that is not needed any more.'),
  database_not_restorable: caller(409, 'Choose another time or backup: `ergon db backup list`.'),
  backup_not_deletable: caller(
    409,
    'A backup by hand can be deleted once it is done; nightly ones end with the retention by themselves.',
  ),
  too_many_backups: caller(
    409,
    'Delete a backup by hand that is not needed any more: `ergon db backup delete`.',
  ),
  backup_not_found: caller(404, 'Check the id: `ergon db backup list`.', 'not_found_error'),
  databases_off: service(
    503,
    'The service runs no databases: the operator starts it with ERGON_DATABASES=on.',
  ),
} as const satisfies ErrorTable
