// The state for the reads of a start that a request waits for: small rows, one behind the other on one connection that
// stays open. Statements that change something have no place here: a read whose connection is silent is asked twice.
import { ErgonError } from '#base/errors.ts'
import type { PoolOptions, SqlRow, State } from '#state/connect.ts'
import { connectPipeline, type Pipeline } from '#state/pipeline.ts'

/** One: a second one would be closed at rest, or wait with cold plans. */
const CONNECTIONS = 1
/** Such a read takes a millisecond; on a busy machine some hundred. */
const LIMIT_MS = 2000

/** Opens the connection at the first read. A read that it does not answer in time goes to `state`, the pool beside it. */
export function connectWakes({
  state,
  ...options
}: Pick<PoolOptions, 'address' | 'log'> & { readonly state: State }): Pipeline {
  const pipeline = connectPipeline({ ...options, connections: CONNECTIONS, limitMs: LIMIT_MS })
  const query = <R extends SqlRow>(text: string, values?: readonly unknown[]) =>
    pipeline.query<R>(text, values).catch((error: unknown) => {
      if (error instanceof ErgonError && error.code === 'state_unavailable')
        return state.query<R>(text, values)
      throw error
    })
  return { query, [Symbol.asyncDispose]: () => pipeline[Symbol.asyncDispose]() }
}
