// PUT /v1/databases/{id or name}/roles/{role}/password: a new password.
import { recordRole, roleReplyOf } from '#databases/logins/asked-role.ts'
import { fault } from '#contract/errors.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import { findRole } from '#databases/logins/find-role.ts'
import { newPassword } from '#databases/logins/new-password.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State; readonly settings: GatewaySettings }

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
      return known(roleReplyOf(role))
    })
  }
