// PUT /v1/registries/{registry}: keeps a password for the pulls of the account's images.
import { encrypt } from '#base/encryption.ts'
import { present } from '#base/errors.ts'
import { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { RegistryLogin } from '#contract/workloads/registries.ts'
import { REGISTRY_PASSWORDS_MAX } from '#contract/workloads/registry-limits.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import { hasSqlState } from '#state/sql-states.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { registryNamed, registryPurpose } from './passwords.ts'
import { registriesOf } from './registry-list.ts'

type Deps = {
  readonly state: State
  readonly settings: Pick<WorkloadGatewaySettings, 'environmentKey'>
}

/** The registry is not called: the first pull reports a wrong password. */
export const createRegistryLogin =
  ({ state, settings }: Deps): Handler<RegistryLogin> =>
  async (call) => {
    const { account } = callerOf(call)
    const { username, password } = call.body
    const registry = registryNamed(call.parameters)
    const sealed = encrypt(
      new Secret(password),
      new Secret(settings.environmentKey),
      registryPurpose(account, registry),
    )
    await state.transaction(async (transaction) => {
      const kept = [account, registry, username, sealed, REGISTRY_PASSWORDS_MAX]
      await transaction
        .query('select keep_registry_password($1, $2, $3, $4, $5)', kept)
        .catch((error: unknown) => {
          throw refusalOf(error, registry)
        })
      const details = { username }
      await recordAct(transaction, call, { action: 'registry.login', target: registry, details })
    })
    const [made] = await registriesOf(state, account, registry)
    return known(present(made, 'the password was kept'))
  }

const refusalOf = (error: unknown, registry: string): unknown =>
  hasSqlState(error, 'tooManyOfKind')
    ? fault(
        'too_many_registries',
        `Could not keep the password of ${registry}: an account has those of ${REGISTRY_PASSWORDS_MAX} registries at most`,
      )
    : error
