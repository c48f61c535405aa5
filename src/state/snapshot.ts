// Reads that must be of one moment.
import type { Queryable, State } from './connect.ts'

/** Runs reads that all see the state as it was at the first of them. */
export const inSnapshot = <T>(
  state: Pick<State, 'transaction'>,
  read: (snapshot: Queryable) => Promise<T>,
): Promise<T> =>
  state.transaction(async (transaction) => {
    await transaction.query('set transaction isolation level repeatable read read only')
    return await read(transaction)
  })
