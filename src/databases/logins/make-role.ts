// A further role of a database: its row, which the agent then makes in the server.
import type { Queryable } from '#state/connect.ts'
import { newPassword } from './new-password.ts'

export async function makeRole(
  transaction: Queryable,
  role: {
    /** The key of all passwords. */
    readonly key: string
    readonly database: string
    /** The login of the owner. */
    readonly owner: string
    readonly label: string
    readonly isReadOnly: boolean
  },
): Promise<void> {
  const { key, database, owner, label, isReadOnly } = role
  const name = `${owner}_${label}`
  const { revision, verifier } = await newPassword(transaction, { key, role: name })
  await transaction.query(
    `insert into database_roles (name, database, label, is_read_only, revision, verifier)
     values ($1, $2, $3, $4, $5, $6)`,
    [name, database, label, isReadOnly, revision, verifier],
  )
  await transaction.query('select want_resource(id, desired) from resources where id = $1', [
    database,
  ])
}
