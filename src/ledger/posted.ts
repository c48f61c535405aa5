// Which charges the ledger has, by their receipt ids.
import type { Queryable } from '#state/connect.ts'

export async function postedAmong(
  state: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await state.query<{ id: string }>('select id from charges where id = any ($1)', [
    ids,
  ])
  return new Set(rows.map(({ id }) => id))
}
