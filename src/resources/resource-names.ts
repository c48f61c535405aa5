// The names of resources by id.
import type { Queryable } from '#state/connect.ts'

/** The names of those resources of an account, of deleted ones too, by id. */
export async function resourceNames(
  state: Queryable,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await state.query<{ id: string; name: string }>(
    'select id, name from resources where account = $1 and id = any ($2)',
    [account, ids],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
