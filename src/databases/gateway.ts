// The API of databases in a gateway: databases, roles, backups, queries, energy. SQL clients connect to the proxy instead.
import {
  parseBackupRequest,
  parseDatabaseChange,
  parseDatabaseQuery,
  parseDatabaseRequest,
  parseDatabaseRoleRequest,
} from '#contract/databases/databases.ts'
import { readTariff } from '#charging/tariff.ts'
import { fault } from '#contract/errors.ts'
import { findNamed, resourceLookup } from '#http/find-named.ts'
import { createIntervalList } from '#http/interval-list.ts'
import { recordsOf } from '#http/account-records.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createResourceGet, createResourceList } from '#http/resource-operations.ts'
import { createBackupCreate } from './operations/database-backup-create.ts'
import { createBackupDelete } from './operations/database-backup-delete.ts'
import { createBackupGet } from './operations/database-backup-get.ts'
import { createBackupList } from './operations/database-backup-list.ts'
import { SHOWN_DATABASES } from './find-database.ts'
import { createDatabaseCreate } from './operations/database-create.ts'
import { createDatabaseDelete } from './operations/database-delete.ts'
import { createDatabaseEnergy } from './operations/database-energy.ts'
import { createDatabaseUrl } from './operations/database-url.ts'
import { createDatabaseQuery, createQueryCeiling } from './operations/database-query.ts'
import { createDatabaseQueries } from './operations/database-queries.ts'
import { createDatabaseRoleCreate } from './operations/database-role-create.ts'
import { createDatabaseRoleDelete } from './operations/database-role-delete.ts'
import { createDatabaseRoleList } from './operations/database-role-list.ts'
import { createDatabaseRoleRotate } from './operations/database-role-rotate.ts'
import { createDatabaseUpdate } from './operations/database-update.ts'
import type { GatewaySettings } from './settings.ts'

/** Databases in the export of an account: their figures, and in `fetch` the command that downloads the data. */
const DATABASES_OF = `select id as place, id, name, region, case actual when 'crash_loop' then 'failed' else actual end as status, size_bytes::text, stored_bytes::text,
    backup_bytes::text, created_at, 'ergon db export ' || name || ' ' || name || '.dump' as fetch
  from resources n join databases d using (id)
  where n.account = $1 and n.desired <> 'deleted' and id > $2 order by id limit $3`

export const DATABASES_GATEWAY: GatewayProduct<GatewaySettings> = { name: 'databases', open }

function open({ readers: state, session }: GatewayCore, settings: GatewaySettings): GatewayPart {
  const deps = { state, settings }
  const rates = () => {
    const { latest } = session
    if (latest === undefined) throw fault('state_unavailable', 'Could not read the tariff')
    return { ...readTariff(latest.tariff), ...latest.price }
  }
  return {
    endpoints: {
      'database.create': { parse: parseDatabaseRequest, handle: createDatabaseCreate(deps) },
      'database.list': { handle: createResourceList(SHOWN_DATABASES, deps) },
      'database.get': { handle: createResourceGet(SHOWN_DATABASES, deps) },
      'database.url': { handle: createDatabaseUrl(deps) },
      'database.update': { parse: parseDatabaseChange, handle: createDatabaseUpdate(deps) },
      'database.energy': { handle: createDatabaseEnergy({ state, now: Date.now }) },
      'database.intervals': {
        handle: createIntervalList(SHOWN_DATABASES, { state, now: Date.now }),
      },
      'database.queries': { handle: createDatabaseQueries({ state, rates }) },
      'database.query': {
        parse: parseDatabaseQuery,
        handle: createDatabaseQuery({ ...deps, rates }),
      },
      'database-query.ceiling': { handle: createQueryCeiling({ state, rates }) },
      'database.delete': { handle: createDatabaseDelete(deps) },
      'database-role.list': { handle: createDatabaseRoleList(deps) },
      'database-role.create': {
        parse: parseDatabaseRoleRequest,
        handle: createDatabaseRoleCreate(deps),
      },
      'database-role.rotate': { handle: createDatabaseRoleRotate(deps) },
      'database-role.delete': { handle: createDatabaseRoleDelete(deps) },
      'database-backup.create': { parse: parseBackupRequest, handle: createBackupCreate(deps) },
      'database-backup.list': { handle: createBackupList(deps) },
      'database-backup.get': { handle: createBackupGet(deps) },
      'database-backup.delete': { handle: createBackupDelete(deps) },
    },
    lookups: {
      db: resourceLookup(state, 'database'),
      bkp: {
        kind: 'backup',
        find: findNamed(
          state,
          `select r.name, '/v1/databases/' || r.id || '/backups/' || b.id as path
           from database_backups b join resources r on r.id = b.database where r.account = $1 and b.id = $2`,
        ),
      },
    },
    account: { records: { database: recordsOf(state, DATABASES_OF) } },
  }
}
