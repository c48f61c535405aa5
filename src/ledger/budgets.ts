// Energy budgets as the code sees them; budgets.sql moves their energy.
import { nj } from '#base/units.ts'
import type { Queryable } from '#state/connect.ts'

/** The least use of a budget: the start of a cell. A PostgreSQL server takes 0.1 to 0.2 s of CPU. */
export const START_NJ = nj(1_000_000_000n)

/**
 * The resource that a cell of an account belongs to: `db-x` is the server of `db_x`, `db-x-backup` backs it up, `fn-x-3`
 * runs version 3 of `fn_x`, `wl-x-3-pull` pulls the image of version 3 of `wl_x`.
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

/**
 * True where nothing of a budget can be used any more today; emits the event of that once. Called when the budget has
 * stopped something, and its charges are posted.
 */
export async function noteUsedUp(state: Pick<Queryable, 'query'>, id: string): Promise<boolean> {
  const { rows } = await state.query<{ isUsedUp: boolean }>(
    'select note_used_up($1, $2) as "isUsedUp"',
    [id, String(START_NJ)],
  )
  return rows[0]?.isUsedUp === true
}
