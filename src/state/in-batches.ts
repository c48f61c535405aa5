// Long work on the state in short transactions.
import type { Queryable } from './connect.ts'

/** Calls a function of the state, such as `portal_upkeep($1)`, until it says that nothing is left. */
export async function inBatches(
  state: Queryable,
  call: string,
  values: readonly unknown[],
  signal: AbortSignal,
): Promise<void> {
  for (let isMore = true; isMore; signal.throwIfAborted()) {
    const { rows } = await state.query<{ more: boolean }>(`select ${call} as more`, [...values])
    isMore = rows[0]?.more === true
  }
}
