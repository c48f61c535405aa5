// Statements of a database by the time that they took: the agent reads them while the server runs, from
// pg_stat_statements of the service's own database `postgres`, which no role of a customer can enter. The state keeps
// the last reading, so that it can be shown while the database sleeps.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable, State } from '#state/connect.ts'
import { COLUMN_TYPES } from '#databases/query/column-types.ts'
import { withoutConstants } from './without-constants.ts'

type CountedStatement = {
  /** The text of the query without its constants. */
  readonly query: string
  readonly calls: number
  readonly rows: number
  readonly execution_ms: number
}

export type Statements = {
  readonly since: Date
  readonly sampled_at: Date
  /** Of statements that are not listed, those of the service among them. */
  readonly other_ms: number
  readonly statements: readonly CountedStatement[]
}

/** A reading takes 3 to 5 ms of CPU of the server, mostly for the connection. */
const REST_MS = 30_000
/** The first reading after the start of a server: most databases sleep again before long. */
const FIRST_MS = 3000
const STATEMENTS_MAX = 100
const QUERY_CHARACTERS_MAX = 500
/** The file of the whole texts, which counts as a part of the database: 4 KB for each statement. */
const TEXTS_MAX_BYTES = 4_000_000
/** Settings of a server whose statements are counted. */
export const STATEMENT_SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '1000',
  // Passwords are in utility statements, and are not replaced by $1 there.
  'pg_stat_statements.track_utility': 'off',
} as const
export const STATEMENTS_LIBRARY = 'pg_stat_statements.so'

const READ = `with all_of as (
    select left(s.query, ${QUERY_CHARACTERS_MAX}) as query, s.calls, s.rows, s.total_exec_time as ms,
      d.datname = $1 and not coalesce(r.rolsuper, false)
        and left(s.query, ${QUERY_CHARACTERS_MAX}) <> $2 as is_own
    from public.pg_stat_statements s left join pg_database d on d.oid = s.dbid left join pg_roles r on r.oid = s.userid
  ), listed as (
    select query, calls, rows, round(ms::numeric, 6) as ms from all_of where is_own order by ms desc limit ${STATEMENTS_MAX}
  )
  select (select stats_reset from public.pg_stat_statements_info) as since,
    (select coalesce(sum(ms), 0) from all_of) - (select coalesce(sum(ms), 0) from listed) as other_ms,
    (select coalesce(json_agg(json_build_object('query', query, 'calls', calls, 'rows', rows, 'execution_ms', ms)
      order by ms desc), '[]') from listed) as statements`
/** Where the texts are longer, counting begins anew: a database must not stay full of its queries. */
export const dropTexts = (bytes: number): string => `select public.pg_stat_statements_reset()
  from pg_stat_file('pg_stat_tmp/pgss_query_texts.stat', true) where size > ${bytes}`
const WRITE = `insert into database_statements (database, since, sampled_at, other_ms, statements)
  values ($1, $2, ledger_now(), greatest(0, $3::float8), $4)
  on conflict (database) do update set since = excluded.since, sampled_at = excluded.sampled_at,
    other_ms = excluded.other_ms, statements = excluded.statements`

/** Reads again and again until the signal aborts. Never rejects. */
export async function keepStatements(
  deps: {
    readonly database: { readonly id: string; readonly name: string }
    /** Opens a connection as the superuser. */
    readonly connect: () => State
    readonly state: Queryable
    readonly log: Logger
  },
  signal: AbortSignal,
): Promise<void> {
  const { database, connect, state, log } = deps
  for (let restMs = FIRST_MS; !signal.aborted; restMs = REST_MS) {
    await sleep(restMs, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      await using server = connect()
      await server.query('create extension if not exists pg_stat_statements schema public')
      const { rows } = await server.query<Omit<Statements, 'sampled_at'>>(READ, [
        database.name,
        COLUMN_TYPES,
      ])
      for (const { since, other_ms: otherMs, statements } of rows)
        await state.query(WRITE, [database.id, since, otherMs, shown(statements)])
      await server.query(dropTexts(TEXTS_MAX_BYTES))
    } catch (error) {
      if (!signal.aborted)
        log.debug('The statements of a database were not read', { error: messageOf(error) })
    }
  }
}

const shown = (statements: Statements['statements']): string =>
  JSON.stringify(statements.map((one) => ({ ...one, query: withoutConstants(one.query) })))

/** The last reading; undefined before the first. */
export async function readStatements(
  state: Queryable,
  database: string,
): Promise<Statements | undefined> {
  const { rows } = await state.query<Statements>(
    'select since, sampled_at, other_ms, statements from database_statements where database = $1',
    [database],
  )
  return rows[0]
}
