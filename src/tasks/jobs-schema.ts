// The schema of graphile-worker's tables and functions. States of one database lie in schemas of their own, so
// the name follows from the schema of the state.
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
