// Reports a server that does not start: to the state, the operator and the clients.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { AwakeServer } from '#databases/agent-socket/awake-server.ts'
import { notStartingWords } from '#databases/agent-socket/state-words.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import type { StartFailure } from './failing-start.ts'

/** Never rejects. */
export async function tellFailing(
  deps: {
    readonly state: Queryable
    readonly log: Logger
    readonly awake: Pick<AwakeServer, 'cut'>
    /** Ends what still runs. */
    readonly stop: (id: string) => Promise<void>
  },
  { id, name }: Resource,
  why: StartFailure,
): Promise<void> {
  const { state, log, awake, stop } = deps
  log.warn('The server of a database does not start', { id, why: why.log })
  await state
    .query('select fail_database($1, $2, $3)', [id, why.toFault(name).message, why.log])
    .catch((error: unknown) =>
      log.warn('A server that does not start is not told', { id, error: messageOf(error) }),
    )
  void awake.cut(id, notStartingWords(name))
  // The start may wait for this function.
  void stop(id).catch((error: unknown) =>
    log.error('A server that does not start could not be ended', { id, error }),
  )
}
