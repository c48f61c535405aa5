// DELETE /v1/registries/{registry}.
import { fault } from '#contract/errors.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import { registryNamed } from './passwords.ts'

/** Images that were pulled stay. */
export const createRegistryLogout =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    const registry = registryNamed(call.parameters)
    await state.transaction(async (transaction) => {
      const { rowCount } = await transaction.query(
        'delete from registry_passwords where account = $1 and registry = $2',
        [account, registry],
      )
      if (rowCount === 0)
        throw fault('registry_not_found', `Could not find a password of ${registry}`)
      await recordAct(transaction, call, { action: 'registry.logout', target: registry })
    })
    return known({ object: 'registry', registry, deleted: true })
  }
