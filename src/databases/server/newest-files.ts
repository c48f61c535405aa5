// Finds files of a database that are those of an older copy of the data folder.
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable, State } from '#state/connect.ts'
import { StartFailure } from './failing-start.ts'
import { hasCopy } from './make-cluster.ts'

/** Beside the files that were found older: each further start would write log, up to the end of the stored log. */
const MARK = 'older'

type Cluster = { readonly id: string; readonly folder: string }

/** Throws a StartFailure for files that were found older before. */
export async function demandUnmarked(state: Queryable, { id, folder }: Cluster): Promise<void> {
  const mark = join(folder, MARK)
  if (existsSync(mark)) throw olderFiles(readFileSync(mark, 'utf8'), await hasCopy(state, id))
}

const olderFiles = (log: string, isRestorable: boolean): StartFailure =>
  isRestorable
    ? new StartFailure(
        'its files are older than its backups; the operator of the service can restore them',
        `its files are older than its backups: ${log}`,
      )
    : new StartFailure(
        'its files are older than its stored log, and it has no backup: it can only be deleted',
        `its files are older than its stored log: ${log}; there is no copy of them`,
      )

/**
 * Returns a check that throws a StartFailure for files that lack log which is stored. They are those of an older copy of
 * the data folder: clients would see old rows without a word, and the log of two histories would be stored as one. A
 * server sends no log that is not on its disk, so its own files are never behind the stored log.
 */
export function createNewestFiles(
  state: Queryable,
): (server: Cluster & { readonly connect: () => State }) => Promise<void> {
  /** Files are changed while the node is stopped: one check for each database is enough. */
  const newest = new Set<string>()
  return async ({ id, folder, connect }) => {
    if (newest.has(id)) return
    await using server = connect()
    const own = await server.query<{ end: string; timeline: number }>(
      'select pg_current_wal_flush_lsn()::text as end, timeline_id as timeline from pg_control_checkpoint()',
    )
    const [reached] = own.rows
    const { rows } = await state.query<{ end: string }>(
      `select log_end($1)::text as end where log_end($1) > $2
         or (select max(timeline) from database_wal where database = $1) > $3`,
      [id, reached?.end, reached?.timeline],
    )
    if (rows[0] === undefined) return void newest.add(id)
    const log = `they end at ${reached?.end}, and the stored log at ${rows[0].end}: ${folder}`
    await writeFile(join(folder, MARK), log)
    throw olderFiles(log, await hasCopy(state, id))
  }
}
