// POST /v1/databases/{id or name}/roles: the agent makes the role in the server.
import { recordRole, roleReplyOf } from '#databases/logins/asked-role.ts'
import { DATABASE_ROLES_MAX, type DatabaseRoleRequest } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import { findRole, rolesOf } from '#databases/logins/find-role.ts'
import { makeRole } from '#databases/logins/make-role.ts'
import { QUERY_LABEL } from '#databases/query/query-role.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { once } from '#http/once.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State; readonly settings: GatewaySettings }

export const createDatabaseRoleCreate =
  ({ state, settings }: Deps): Handler<DatabaseRoleRequest> =>
  async (call) => {
    const { name: label, read_only: isReadOnly } = call.body
    if (!settings.isOn) throw fault('databases_off', `Could not create the role "${label}"`)
    const made = await once(call, state, () => async (transaction) => {
      const { id, role: owner } = await askedResource(SHOWN_DATABASES, transaction, call)
      await transaction.query('select from databases where id = $1 for no key update', [id])
      const roles = await rolesOf(transaction, id)
      if (roles.some((one) => one.label === label))
        throw fault('database_role_exists', `Could not create the role: "${label}" exists already`)
      if (roles.filter((one) => one.label !== QUERY_LABEL).length >= DATABASE_ROLES_MAX)
        throw fault(
          'invalid_request',
          `Could not create the role "${label}": a database has at most ${DATABASE_ROLES_MAX}`,
        )
      const key = settings.passwordKey
      await makeRole(transaction, { key, database: id, owner, label, isReadOnly })
      await recordRole(transaction, call, { action: 'database-role.create', id, label, isReadOnly })
      return roleReplyOf(await findRole(transaction, id, label))
    })
    return known(made, 201)
  }
