// Limits: databases.
import * as databases from '#contract/databases/databases.ts'
import { MANUAL_BACKUPS_MAX } from '#contract/databases/databases-max.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import * as logins from '#databases/proxy/login-limits.ts'
import { STRANGERS_MAX } from '#databases/proxy/strangers.ts'
import { SAID_BYTES_MAX } from '#databases/query/ask-database.ts'
import { FILES_MAX } from '#databases/size/full-words.ts'
import { bytes, code, count, seconds, words, type Beyond, type LimitSection } from './limit.ts'

const paceText = ({ burst, perSecond }: logins.LoginPace): string =>
  `${count(burst)}, then ${count(perSecond)} a second`
const sqlState = (state: string): Beyond => words(`SQLSTATE ${state}`)

export const DATABASES: LimitSection = {
  title: 'Databases',
  limits: [
    ['sessions of a database', count(SESSIONS_MAX), sqlState('53300')],
    ['files of a database', count(FILES_MAX), sqlState('53100')],
    ['backups by hand of a database', count(MANUAL_BACKUPS_MAX), code('too_many_backups')],
    ['rows of a query by the API', count(databases.QUERY_ROWS_MAX), code('invalid_request')],
    ['time of a query by the API', seconds(databases.QUERY_MS_MAX), code('database_query_failed')],
    ['bytes of 50 rows of such a query', bytes(SAID_BYTES_MAX), code('database_result_too_large')],
    ['logins of a database', paceText(logins.LOGINS), sqlState('53300')],
    [
      'wrong passwords of a role from an address',
      paceText(logins.ROLE_FAILURES),
      words(
        `28P01 after up to ${seconds(logins.FAILURE_DELAY_MS_MAX)}, then 53300 for that role and address`,
      ),
    ],
    [
      'wrong passwords of all roles from an address',
      paceText(logins.ADDRESS_FAILURES),
      words('the same for that address'),
    ],
    [
      'wrong passwords of all roles of a database',
      paceText(logins.DATABASE_FAILURES),
      words('the same, but for addresses with a login of the last day'),
    ],
    [
      'connections from an address that come to no session',
      paceText(logins.UNSERVED),
      sqlState('53300'),
    ],
    [
      'those from all addresses',
      paceText(logins.ALL_UNSERVED),
      words('SQLSTATE 53300, but for addresses with a login of the last day'),
    ],
    [
      'connections that have not logged in, at each proxy',
      count(STRANGERS_MAX),
      words('the oldest is ended (53300)'),
    ],
  ],
}
