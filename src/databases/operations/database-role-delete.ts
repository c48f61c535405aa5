// DELETE /v1/databases/{id or name}/roles/{role}: the agent removes the role in the server.
import { recordRole } from '#databases/logins/asked-role.ts'
import { fault } from '#contract/errors.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import { findRole } from '#databases/logins/find-role.ts'
import { OWNER_LABEL } from '#databases/logins/owner-label.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createDatabaseRoleDelete =
  ({ state }: Deps): Handler =>
  async (call) => {
    const label = call.parameters['role'] ?? ''
    if (label === OWNER_LABEL)
      throw fault('invalid_request', 'Could not delete the owner: delete the database')
    return await state.transaction(async (transaction) => {
      const { id } = await askedResource(SHOWN_DATABASES, transaction, call)
      const { name } = await findRole(transaction, id, label)
      await transaction.query('delete from database_roles where name = $1', [name])
      await transaction.query('select want_resource(id, desired) from resources where id = $1', [
        id,
      ])
      await recordRole(transaction, call, { action: 'database-role.delete', id, label })
      return known({ object: 'database.role', name: label, deleted: true })
    })
  }
