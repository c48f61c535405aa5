// The time of statements of a process in the state: one process of PostgreSQL uses no more CPU than the time of its statement.
import type { Clock } from '#base/clock.ts'
import type { Queryable, State } from './connect.ts'

export interface TimedState {
  readonly state: State
  /** Time of all statements so far, those that run included. Statements that run side by side have their time each. */
  readonly statementMs: number
}

/** `state`, whose statements are timed from now on. The wait for a connection of the pool counts, too. */
export function timeStatements(
  state: State,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): TimedState {
  let totalMs = 0
  let running = 0
  let lastMs = monotonicMs()
  const count = (change: number) => {
    const nowMs = monotonicMs()
    totalMs += running * (nowMs - lastMs)
    lastMs = nowMs
    running += change
  }
  const timed = (queryable: Queryable): Queryable => ({
    async query(text, values) {
      count(1)
      try {
        return await queryable.query(text, values)
      } finally {
        count(-1)
      }
    },
  })
  return {
    state: {
      ...timed(state),
      transaction: (work) => state.transaction((transaction) => work(timed(transaction))),
      session: (work) => state.session((session) => work(timed(session))),
      listen: (channel, notified) => state.listen(channel, notified),
      [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
    },
    get statementMs() {
      count(0)
      return totalMs
    },
  }
}
