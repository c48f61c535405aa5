// The state for queries that are frequent and short: binary, and one behind the other on few connections (wire/).
// The driver `pg` connects and authenticates; then its socket is ours.
import { Socket } from 'node:net'
import pg from 'pg'
import { systemClock } from '#base/clock.ts'
import { invariant, messageOf } from '#base/errors.ts'
import { WirePool } from '#wire/pool.ts'
import {
  ANSWER_TIMEOUT_MS,
  serverAnswer,
  configOf,
  isHarmlessState,
  twiceAtDeadlock,
  WAIT_MS_MAX,
  type PoolOptions,
  type Queryable,
  type SqlRow,
} from './connect.ts'

export interface Pipeline extends Queryable, AsyncDisposable {}

/**
 * Opens a pool of at most `connections`; the first query connects. Errors are those of connectState(). Values are in
 * the types of wire/values.ts; a query of any other type throws a TypeError. `limitMs` is the longest time for a
 * connection, and for an answer; a connection without an answer ends.
 */
export function connectPipeline(
  options: PoolOptions & { readonly limitMs?: number | undefined },
): Pipeline {
  const { limitMs = Infinity } = options
  const config = configOf(options)
  const pool = new WirePool({
    login: () => login(config),
    connections: options.connections,
    clock: systemClock,
    waitMsMax: Math.min(WAIT_MS_MAX, limitMs),
    answerMsMax: Math.min(ANSWER_TIMEOUT_MS, limitMs),
    isHarmless: ({ code }) => isHarmlessState(code),
    lost: (error) => options.log.warn('A state connection was lost', { error: messageOf(error) }),
  })
  return {
    async query<R extends SqlRow>(text: string, values: readonly unknown[] = []) {
      const { rows, rowCount } = await serverAnswer(twiceAtDeadlock(() => pool.ask(text, values)))
      return { rows: rows as R[], rowCount }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/**
 * The connections stay open. A firewall that drops one at rest without a word would cost its next queries 35 s each;
 * firewalls wait for minutes.
 */
const KEEP_ALIVE_MS = 30_000

/** A connection that is authenticated, without its driver. */
async function login(config: pg.ClientConfig) {
  const client = new pg.Client({
    ...config,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // It hears of the end of its connection; so does who has the socket.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    void client.end().catch(() => undefined)
    throw error
  }
  const { stream } = client.connection
  invariant(stream instanceof Socket, 'the driver has a socket')
  stream.removeAllListeners('data')
  return stream
}
