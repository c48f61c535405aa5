// The time of statements of a process in the state: one process of PostgreSQL uses no more CPU than the time of its statement.
import type { Clock } from '#base/clock.ts'
import {
  serverAnswer,
  twiceAtDeadlock,
  type Queryable,
  type SqlRow,
  type State,
} from './connect.ts'

export interface TimedState {
  readonly state: State
  /** Time of all statements so far, those that run included. Statements that run side by side have their time each. */
  readonly statementMs: number
}

/** `state`, whose statements are timed from now on, each from the moment that it has its connection. A commit is a statement. */
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
  const session: State['session'] = (work) => state.session((lent) => work(timed(lent)))
  const transaction: State['transaction'] = async (work) => {
    // The time counts from the end of the work on: the begin has hardly any CPU, and its time would be the wait for a
    // connection.
    let commits = 0
    const end = () => {
      count(-commits)
      commits = 0
    }
    try {
      return await state.transaction(async (lent) => {
        // After a deadlock the work runs once more.
        end()
        const result = await work(timed(lent))
        count(1)
        commits = 1
        return result
      })
    } finally {
      end()
    }
  }
  return {
    state: {
      // Not the query of `state`, whose time has the wait for a connection.
      query: <R extends SqlRow>(text: string, values?: readonly unknown[]) =>
        serverAnswer(twiceAtDeadlock(() => session((lent) => lent.query<R>(text, values)))),
      transaction,
      session,
      listen: (channel, notified) => state.listen(channel, notified),
      [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
    },
    get statementMs() {
      count(0)
      return totalMs
    },
  }
}
