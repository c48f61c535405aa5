// The schema of graphile-worker's tables and functions. States of one database lie in schemas of their own, so
// the name follows from the schema of the state.
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

/** The name, as SQL identifier and as text; `isMade` is false until the first runner has made the tables. */
export async function jobsSchema(
  state: Queryable,
): Promise<{ readonly sql: string; readonly name: string; readonly isMade: boolean }> {
  const { rows } = await state.query<{ sql: string; name: string; is_made: boolean }>(
    `select quote_ident(name) as sql, name, exists (select from tasks) as is_made
     from (select current_schema() || '_tasks' as name) named`,
  )
  const { sql = 'public_tasks', name = 'public_tasks', is_made: isMade = false } = rows[0] ?? {}
  return { sql, name, isMade }
}

/** The newest tables that this version's graphile-worker knows. */
export const JOBS_REVISION = 20

/** For the start of a product: throws state_too_new where a newer version changed the meaning of the tables. */
export async function refuseNewerJobs(state: Queryable): Promise<void> {
  const { sql } = await jobsSchema(state)
  const made = await state.query<{ is_made: boolean }>(
    'select to_regclass($1) is not null as is_made',
    [`${sql}.migrations`],
  )
  if (made.rows[0]?.is_made !== true) return
  const { rows } = await state.query<{ newest: number | null }>(
    `select max(id) filter (where breaking) as newest from ${sql}.migrations`,
  )
  if ((rows[0]?.newest ?? 0) > JOBS_REVISION)
    throw fault('state_too_new', 'Could not use the tables of tasks: a newer version wrote them')
}
