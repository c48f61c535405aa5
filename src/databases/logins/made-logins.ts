// Logins that can have sessions: those that write are the owner in the server; those that read have a role of their own
// there, which must be made first.
import type { Queryable } from '#state/connect.ts'

/** The names of a database's logins as an array in SQL; `of` is an expression with its id. */
export const madeLogins = (of: string): string =>
  `array(select name from database_roles where database = ${of} and (is_made or not is_read_only))`

export async function readMadeLogins(state: Queryable, id: string): Promise<readonly string[]> {
  const { rows } = await state.query<{ logins: readonly string[] }>(
    `select ${madeLogins('$1')} as logins`,
    [id],
  )
  return rows[0]?.logins ?? []
}

/** Records that these roles are in the server. */
export const recordMade = (state: Queryable, id: string, readers: readonly string[]) =>
  state.query(
    'update database_roles set is_made = true where database = $1 and name = any ($2) and not is_made',
    [id, readers],
  )
