// Energy budgets as the code sees them; budgets.sql moves their energy.
import type { Queryable } from '#state/connect.ts'

/**
 * The resource that a cell of an account belongs to: `db-x` is the server of `db_x`, `fn-x-3` runs version 3 of `fn_x`,
 * `wl-x-3-pull` pulls the image of version 3 of `wl_x`.
 */
export const resourceOfCell = (cell: string): string => cell.split('-', 2).join('_')

/** The energy of a budget for a day, in nJ as text; undefined where there is none of this id. */
export async function njPerDayOf(
  state: Pick<Queryable, 'query'>,
  id: string,
): Promise<string | undefined> {
  const { rows } = await state.query<{ nj: string }>(
    'select nj_per_day::text as nj from budgets where id = $1',
    [id],
  )
  return rows[0]?.nj
}
