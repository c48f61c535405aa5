// The end of an account's resources of a kind, when the account is deleted.
import type { Queryable } from '#state/connect.ts'

/** Resolves with the thing that it waits for; undefined when nothing is left. */
export async function leaveResources(
  state: Queryable,
  account: string,
  kind: string,
): Promise<string | undefined> {
  const { rows } = await state.query<{ why: string | null }>(
    'select leave_resources($1, $2) as why',
    [account, kind],
  )
  return rows[0]?.why ?? undefined
}
