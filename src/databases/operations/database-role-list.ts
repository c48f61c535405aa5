// GET /v1/databases/{id or name}/roles.
import { roleReplyOf } from '#databases/logins/asked-role.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import { rolesOf } from '#databases/logins/find-role.ts'
import { known, type Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createDatabaseRoleList =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { id } = await askedResource(SHOWN_DATABASES, state, call)
    const data = (await rolesOf(state, id)).map(roleReplyOf)
    return known({ object: 'list', data, has_more: false, next_cursor: null })
  }
