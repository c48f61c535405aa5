// GET /v1/registries.
import type { RegistryReply } from '#contract/workloads/registries.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

type RegistryRow = {
  readonly registry: string
  readonly username: string
  readonly created_at: Date
  readonly updated_at: Date
}

export const createRegistryList =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller }) => {
    const data = await registriesOf(state, callerOf({ caller }).account)
    return known({ object: 'list', data, has_more: false, next_cursor: null })
  }

/** The registries of an account, or one of them, by name. */
export async function registriesOf(
  state: Queryable,
  account: string,
  registry?: string,
): Promise<readonly RegistryReply[]> {
  const { rows } = await state.query<RegistryRow>(
    `select registry, username, created_at, updated_at from registry_passwords
     where account = $1 and ($2::text is null or registry = $2) order by registry`,
    [account, registry ?? null],
  )
  return rows.map(({ created_at: made, updated_at: changed, ...row }) => ({
    object: 'registry',
    ...row,
    created_at: made.toISOString(),
    updated_at: changed.toISOString(),
  }))
}
