// A restored database in the agent: a cell of the restore makes its files, and its first server recovers them. Everything
// is read before anybody may connect.
import type { Queryable, State } from '#state/connect.ts'
import { fault } from '#contract/errors.ts'
import { NotYet } from '#resources/reconciler.ts'
import { BackupFault } from './plan.ts'
import { positionOf, segmentStart } from './wire.ts'

export type Restored = {
  /** The name of the source, and its owner: as they are in the files. */
  readonly name: string
  readonly owner: string
  /** The recovery must reach this position, or its target time. */
  readonly least: string
  /** In the place of its source: new log begins behind this position, where the stored log ends. */
  readonly behind: string | null
}

type Row = Restored & { readonly status: string; readonly reason: string | null }

/**
 * The restore that a database waits for; undefined where it is done or there is none. Throws NotYet while its files are
 * made, and its failure.
 */
export async function restoredOf(state: Queryable, id: string): Promise<Restored | undefined> {
  const { rows } = await state.query<Row>(
    `select r.status, r.reason, r.least_lsn::text as least, n.name, o.name as owner,
       case when r.source = r.database then log_end(r.source)::text end as behind
     from database_restores r join resources n on n.id = r.source
       join database_roles o on o.database = r.source and o.label = 'owner'
     where r.database = $1`,
    [id],
  )
  const [row] = rows
  if (row === undefined || row.status === 'done') return undefined
  if (row.status === 'failed')
    throw fault('database_not_restorable', `Could not restore the database: ${row.reason}`)
  if (row.status !== 'unpacked') throw new NotYet()
  return row
}

/**
 * Checks a recovered server, then gives the database and its owner their new names. Throws a BackupFault.
 */
export async function adopt(
  connect: (database: string) => State,
  restored: Restored,
  to: { readonly name: string; readonly owner: string },
): Promise<void> {
  await using server = connect('postgres')
  await checkReached(server, restored.least)
  const found = await server.query('select from pg_database where datname = $1', [restored.name])
  if (found.rowCount > 0) {
    await readTables(connect, restored.name)
    // PostgreSQL refuses a name that is taken, also by the database itself.
    if (restored.name !== to.name)
      await server.query(
        await formatted(server, 'alter database %I rename to %I', [restored.name, to.name]),
      )
  }
  const roles = await server.query('select from pg_roles where rolname = $1', [restored.owner])
  if (roles.rowCount > 0 && restored.owner !== to.owner)
    await server.query(
      await formatted(server, 'alter role %I rename to %I', [restored.owner, to.owner]),
    )
  await server.query('alter system reset all')
  if (restored.behind !== null) await passLog(server, positionOf(restored.behind))
}

/**
 * Has the server write its log from a later segment on. The last bytes of the stored log may be a part of a record, in
 * whose place the log of this history would begin. Each step is a segment; there is about a minute of log to pass.
 */
async function passLog(server: State, behind: bigint): Promise<void> {
  for (;;) {
    // A checkpoint writes what the next switch needs. A slot, and so the stored log, begins with the last one.
    await server.query('select pg_switch_wal()')
    await server.query('checkpoint')
    const { rows } = await server.query<{ redo: string }>(
      'select redo_lsn::text as redo from pg_control_checkpoint()',
    )
    if (segmentStart(positionOf(rows[0]?.redo ?? '0/0')) > behind) return
  }
}

/** Before the first commit behind the target time. */
const AT_TIME = 'before '

/** PostgreSQL writes where and why it left the log of the source, in the history of its new timeline. */
async function checkReached(server: State, least: string): Promise<void> {
  const { rows } = await server.query<{ history: string }>(
    `select pg_read_file('pg_wal/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '.history') as history`,
  )
  const [, reached = '0/0', why = ''] =
    rows[0]?.history.trim().split('\n').at(-1)?.split('\t') ?? []
  if (positionOf(reached) < positionOf(least) && !why.startsWith(AT_TIME))
    throw new BackupFault(`the recovery reached ${reached}, and not ${least}`)
}

const READ =
  'disable_page_skipping, index_cleanup off, truncate off, process_toast off, skip_database_stats'

/**
 * Reads each page of each table, which compares its checksum. A large table takes minutes. A query would run functions of
 * the account as the superuser: the planner evaluates those in the predicates of indexes. VACUUM plans nothing, and
 * works with the rights of the table's owner.
 */
export async function readTables(
  connect: (database: string) => State,
  name: string,
): Promise<void> {
  await using database = connect(name)
  const { rows } = await database.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm', 't') and c.relpersistence = 'p' order by c.oid`,
  )
  await database.session(async (session) => {
    // Autovacuum gives way after a second.
    await session.query('set lock_timeout = 0')
    for (const { name: table } of rows)
      await session.query(`vacuum (${READ}) ${table}`).catch((error: unknown) => {
        throw new BackupFault(`a table cannot be read: ${(error as Error).message}`)
      })
  })
}

async function formatted(server: State, text: string, names: readonly string[]): Promise<string> {
  const { rows } = await server.query<{ text: string }>(
    'select format($1, $2::text, $3::text) as text',
    [text, ...names],
  )
  return rows[0]?.text ?? ''
}
