// The login of queries that come by the API: a role of the database that only reads, made with the first query.
import { makeRole } from '#databases/logins/make-role.ts'
import { findRole, rolesOf, type RoleRow } from '#databases/logins/find-role.ts'
import type { Queryable } from '#state/connect.ts'

/** No role of an account has such a name. */
export const QUERY_LABEL = '_query'

/** The role, which the agent may still have to make in the server. `transaction` is the caller's. */
export async function wantQueryRole(
  transaction: Queryable,
  { id, owner, key }: { readonly id: string; readonly owner: string; readonly key: string },
): Promise<RoleRow> {
  const roleOf = async () =>
    (await rolesOf(transaction, id)).find(({ label }) => label === QUERY_LABEL)
  const found = await roleOf()
  if (found !== undefined) return found
  await transaction.query('select from databases where id = $1 for no key update', [id])
  if ((await roleOf()) === undefined)
    await makeRole(transaction, {
      key,
      database: id,
      owner,
      label: QUERY_LABEL,
      isReadOnly: true,
    })
  return await findRole(transaction, id, QUERY_LABEL)
}
