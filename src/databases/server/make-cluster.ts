// The files of the server of a database.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Secret } from '#base/log.ts'
import { initialiseCluster } from '#postgres/cluster.ts'
import type { PostgresInstall } from '#postgres/install.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import { StartFailure } from './failing-start.ts'

const TEMPLATE = 'template'
// The superuser is the agent, by its password. The roles of customers have proved who they are at the proxy, and
// nobody else may enter the folder of the socket.
export const HOST_RULES = 'local all postgres scram-sha-256\nlocal all all trust\n'

/**
 * A copy of a template, which the first database makes. Throws a StartFailure for a database that had files before: an
 * empty one would take its place without a word.
 */
export async function makeCluster(
  {
    state,
    install,
    superuserPassword,
    folder,
  }: {
    readonly state: Queryable
    readonly install: () => Promise<PostgresInstall>
    readonly superuserPassword: Secret
    readonly folder: string
  },
  { id }: Resource,
  signal: AbortSignal,
): Promise<void> {
  const own = join(folder, id)
  if (!hasFiles(own) && (await hadFiles(state, id)))
    throw missingFiles(own, await hasCopy(state, id))
  const template = join(folder, TEMPLATE)
  const cluster = { install: await install(), superuserPassword, walSegmentMb: 1, signal }
  await initialiseCluster({ ...cluster, folder: template })
  await initialiseCluster({ ...cluster, folder: own, template, hostRules: HOST_RULES })
}

/** True for a folder that holds a cluster. */
export const hasFiles = (folder: string): boolean => existsSync(join(folder, 'data'))

/** The failure of a database whose files are missing. */
export const missingFiles = (folder: string, isRestorable: boolean): StartFailure =>
  isRestorable
    ? new StartFailure(
        'its files are missing; the operator of the service can restore them from its backups',
        `its files are missing: ${folder}; see ergon admin database restore-lost`,
      )
    : new StartFailure(
        'its files are missing, and it has no backup: it can only be deleted',
        `its files are missing: ${folder}; there is no copy of them`,
      )

/** True for a database that can be restored in its own place. */
export async function hasCopy(state: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await state.query(
    "select from database_backups where database = $1 and status = 'done' limit 1",
    [id],
  )
  return rowCount > 0
}

/** Databases `d` of which a server has answered, or has recovered restored files. */
const HAD_FILES = `(d.postgres_version is not null
  or exists (select from database_restores r where r.database = d.id and r.status = 'done'))`

async function hadFiles(state: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await state.query(`select from databases d where id = $1 and ${HAD_FILES}`, [
    id,
  ])
  return rowCount > 0
}

export type LostDatabase = Resource & {
  /** Its restore is under way. */
  readonly isRestoring: boolean
}

/** The databases whose files are missing, by their folders below one, as after the loss of a disk. */
export async function lostDatabases(state: Queryable, folder: string): Promise<LostDatabase[]> {
  const { rows } = await state.query<LostDatabase>(
    `select n.id, n.account, n.name, exists (select from database_restores r
       where r.database = n.id and r.status in ('wanted', 'running', 'unpacked')) as "isRestoring"
     from resources n join databases d using (id)
     where n.desired <> 'deleted' and ${HAD_FILES} order by n.id`,
  )
  return rows.filter(({ id }) => !hasFiles(join(folder, id)))
}
