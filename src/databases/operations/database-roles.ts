// /v1/databases/{id or name}/roles: list, create, rotate, delete. The agent makes and removes the roles in the server.
import {
  DATABASE_ROLES_MAX,
  type DatabaseRoleReply,
  type DatabaseRoleRequest,
} from '#contract/databases.ts'
import { fault } from '#contract/errors.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import { findRole, rolesOf, type RoleRow } from '#databases/logins/find-role.ts'
import { makeRole } from '#databases/logins/make-role.ts'
import { newPassword } from '#databases/logins/new-password.ts'
import { OWNER_LABEL } from '#databases/logins/owner-label.ts'
import { QUERY_LABEL } from '#databases/query/query-role.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import { once } from '#http/once.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { Queryable, State } from '#state/connect.ts'

type Deps = { readonly state: State; readonly settings: GatewaySettings }

const replyOf = ({ name, label, is_read_only: isReadOnly }: RoleRow): DatabaseRoleReply => ({
  object: 'database.role',
  name: label,
  login: name,
  read_only: isReadOnly,
})

const recordRole = (
  transaction: Queryable,
  call: Asker,
  {
    action,
    id,
    label,
    isReadOnly,
  }: { action: string; id: string; label: string; isReadOnly?: boolean },
) =>
  recordAct(transaction, call, {
    action,
    target: id,
    details: { role: label, read_only: isReadOnly },
  })

export const createDatabaseRoleList =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { id } = await askedResource(SHOWN_DATABASES, state, call)
    const data = (await rolesOf(state, id)).map(replyOf)
    return known({ object: 'list', data, has_more: false, next_cursor: null })
  }

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
      return replyOf(await findRole(transaction, id, label))
    })
    return known(made, 201)
  }

export const createDatabaseRoleRotate =
  ({ state, settings }: Deps): Handler =>
  async (call) => {
    const label = call.parameters['role'] ?? ''
    if (!settings.isOn) throw fault('databases_off', `Could not rotate "${label.slice(0, 100)}"`)
    return await state.transaction(async (transaction) => {
      const { id } = await askedResource(SHOWN_DATABASES, transaction, call)
      await transaction.query('select from databases where id = $1 for no key update', [id])
      const role = await findRole(transaction, id, label)
      const key = settings.passwordKey
      const { revision, verifier } = await newPassword(transaction, { key, role: role.name })
      await transaction.query(
        'update database_roles set revision = $2, verifier = $3 where name = $1',
        [role.name, revision, verifier],
      )
      await recordRole(transaction, call, { action: 'database-role.rotate', id, label })
      return known(replyOf(role))
    })
  }

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
