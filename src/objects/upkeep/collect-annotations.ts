// Removes annotations that no version names any more, an hour after their version was removed, so that a running copy
// of their sheet can finish.
import type { State } from '#state/connect.ts'
import { GRACE_MS } from './collect-garbage.ts'

/** 32 MiB of the largest in one transaction. */
const ROWS_AT_ONCE = 32

/**
 * Removes up to `limit` annotations and returns the number. The sheet's row is locked meanwhile, so that no version
 * is put with the sheet; the row goes with the last annotation.
 */
export async function collectAnnotations(
  state: State,
  options: { limit: number; signal: AbortSignal; graceMs?: number },
): Promise<number> {
  const { limit, signal, graceMs = GRACE_MS } = options
  let removed = 0
  while (removed < limit) {
    signal.throwIfAborted()
    const found = await collectSome(state, graceMs)
    if (found === undefined) break
    // An empty sheet counts, so that the loop goes on.
    removed += Math.max(found, 1)
  }
  return removed
}

/** Undefined: there is no sheet to remove. */
const collectSome = (state: State, graceMs: number): Promise<number | undefined> =>
  state.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ sheet: string }>(
      `select sheet from annotation_garbage where since < clock_timestamp() - $1 * interval '1 ms'
       order by since limit 1 for update skip locked`,
      [graceMs],
    )
    const [row] = rows
    if (row === undefined) return undefined
    const { rowCount } = await transaction.query(
      `delete from object_annotations where (sheet, name) in (
         select sheet, name from object_annotations where sheet = $1 limit $2)`,
      [row.sheet, ROWS_AT_ONCE],
    )
    if (rowCount < ROWS_AT_ONCE)
      await transaction.query('delete from annotation_garbage where sheet = $1', [row.sheet])
    return rowCount
  })
