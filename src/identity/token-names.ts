// The names of tokens by id, of revoked ones too.
import type { Queryable } from '#state/connect.ts'

export type NamedToken = {
  /** A session is a sign-in at the portal, which no list of tokens has. */
  readonly kind: 'token' | 'session'
  readonly name: string
}

/** The names of the tokens of an account. */
export async function tokenNames(
  state: Queryable,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NamedToken>> {
  if (ids.length === 0) return new Map()
  const { rows } = await state.query<{ id: string; name: string; is_session: boolean }>(
    'select id, name, is_session from tokens where account = $1 and id = any ($2)',
    [account, ids],
  )
  return new Map(
    rows.map(({ id, name, is_session: isSession }) => [
      id,
      { kind: isSession ? 'session' : 'token', name },
    ]),
  )
}
