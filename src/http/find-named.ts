// Lookups of rows by id.
import type { Queryable } from '#state/connect.ts'
import type { Lookup } from './gateway-part.ts'

/** `sql` gives `name` and `path` of the row with the id $2 of the account $1. */
export const findNamed =
  (state: Queryable, sql: string): Lookup['find'] =>
  async (account, id) => {
    const { rows } = await state.query<{ name: string; path: string }>(sql, [account, id])
    return rows[0]
  }

/** A resource by its id. */
export const resourceLookup = (state: Queryable, kind: string): Lookup => ({
  kind,
  find: findNamed(
    state,
    `select name, '/v1/${kind}s/' || id as path from resources
     where account = $1 and id = $2 and kind = '${kind}' and desired <> 'deleted'`,
  ),
})
