// Roles of a database, by the names that the account gave them.
import { OWNER_LABEL } from './owner-label.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

export type RoleRow = {
  /** The login. */
  readonly name: string
  readonly label: string
  readonly is_read_only: boolean
  readonly revision: number
}

/** The owner first. */
export async function rolesOf(state: Queryable, database: string): Promise<readonly RoleRow[]> {
  const { rows } = await state.query<RoleRow>(
    `select name, label, is_read_only, revision from database_roles where database = $1
     order by label <> $2, label`,
    [database, OWNER_LABEL],
  )
  return rows
}

/** Throws database_role_not_found. */
export async function findRole(
  state: Queryable,
  database: string,
  label: string,
): Promise<RoleRow> {
  const role = (await rolesOf(state, database)).find((one) => one.label === label)
  if (role !== undefined) return role
  throw fault('database_role_not_found', `Could not find the role: "${label.slice(0, 100)}"`)
}
