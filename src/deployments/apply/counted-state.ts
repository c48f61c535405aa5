// The state as a turn uses it, which makes the CPU of the turn its account's: from each answer of the state to the next query.
// All other CPU of this process, also that of the turns of others between, is not.
import type { Queryable, State } from '#state/connect.ts'

export type TurnState = Pick<State, 'query' | 'transaction'>

export type TurnMarks = {
  /** CPU since the last mark is the account's. */
  readonly mark: () => void
  /** CPU since the last mark is the operator's. */
  readonly markOwn: () => void
}

/** A turn begins behind `markOwn` and ends with `mark`. */
export function countedState(state: TurnState, marks: TurnMarks): TurnState {
  return {
    ...countedQueries(state, marks),
    async transaction(work) {
      marks.mark()
      try {
        return await state.transaction(async (it) => {
          marks.markOwn()
          try {
            return await work(countedQueries(it, marks))
          } finally {
            marks.mark()
          }
        })
      } finally {
        marks.markOwn()
      }
    },
  }
}

const countedQueries = (queries: Queryable, { mark, markOwn }: TurnMarks): Queryable => ({
  async query(text, values) {
    mark()
    try {
      return await queries.query(text, values)
    } finally {
      markOwn()
    }
  },
})
