// The connection to our own PostgreSQL 16: the cell that the agent starts, or DATABASE_URL.
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import type { Logger } from '#base/log.ts'
import { ErgonError, invariant, messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { listenToChannel } from './listen.ts'

export type SqlRow = Record<string, unknown>

/** A runner of SQL: the pool, or one transaction of it. */
export interface Queryable {
  query<R extends SqlRow = SqlRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ rows: R[]; rowCount: number }>
}

export interface State extends Queryable, AsyncDisposable {
  /** Runs work in one transaction; rolls back when it throws. After a deadlock the whole work runs once more. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>
  /** Calls back at each NOTIFY of a channel, on a connection of its own that comes back when it is lost. */
  listen(channel: string, notified: (payload: string) => void): Promise<AsyncDisposable>
  /** Runs work on one connection, for session-level locks. */
  session<T>(work: (session: Queryable) => Promise<T>): Promise<T>
}

/** The address of the state: a URL (addressOfUrl()), or host (a socket folder), user and password. */
export type StateAddress =
  | { readonly url: string; readonly tls?: StateTls }
  | {
      readonly host: string
      readonly user: string
      readonly password: string
      readonly database: string
      /** Settings of the session, as on the command line of a server. */
      readonly options?: string
    }

/** Encryption of connections; certificates and key as PEM texts. */
export type StateTls = {
  /** The proof that the server's certificate owes: none, its authority, or its authority and the name of the host. */
  readonly proof: 'none' | 'authority' | 'name'
  /** The authority; undefined for those that Node.js knows. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

// For a connection of the pool, or of the server. With 3 s half of a thousand uploads that ended together
// were refused, and a product did not start where 13 processes shared a core. A server that is not there
// refuses at once.
export const WAIT_MS_MAX = 15_000
// No statement of ours takes longer: the sealer's batches and the reconcile job are bounded.
const STATEMENT_TIMEOUT_MS = 30_000
// A process that hangs in a transaction holds its locks no longer than this: wallets that others wait for among them.
const IDLE_TRANSACTION_MS = 60_000
// Longer than the server's own: it is the connection that is dead, and the pool makes another.
export const ANSWER_TIMEOUT_MS = 35_000

/**
 * Opens a pool of at most `connections`; the first query connects. Queries and transactions throw `state_unavailable`
 * when the server is away, has no connection left or takes too long; SQL errors stay as they are. A single
 * statement or a transaction that the server ended for a deadlock runs once more: it has changed nothing.
 */
export function connectState(
  options: PoolOptions & {
    /** The server in the texts of errors (default: the state). */
    readonly called?: string
    /** Each connection parses a statement once; their texts are few and always the same. */
    readonly prepares?: boolean
  },
): State {
  const pool = openPool(options)
  const { called = 'the state' } = options
  const names = options.prepares === true ? new Map<string, string>() : undefined

  async function lend<T>(client: pg.PoolClient, work: (client: Lent) => Promise<T>): Promise<T> {
    let broken: Error | undefined
    // While it is lent out the pool does not listen: unheard, the loss of a connection ends the process.
    const lost = (error: Error) => (broken = error)
    client.on('error', lost)
    try {
      return await work(queryable(client, names, options.measured))
    } catch (error) {
      if (error instanceof Error && breaks(error)) broken = error
      throw error
    } finally {
      client.off('error', lost)
      client.release(broken)
    }
  }

  const session: State['session'] = async (work) => lend(await pool.connect(), work)

  const asked = <T>(answer: Promise<T>): Promise<T> => serverAnswer(answer, called)

  return {
    query: <R extends SqlRow>(text: string, values?: readonly unknown[]) =>
      // Not the pool's own query(): at any error of SQL that ends the connection, and the next one, with every
      // function to compile anew, takes 20 to 60 ms of the server's CPU.
      asked(twiceAtDeadlock(() => session((client) => client.query<R>(text, values)))),
    session,
    transaction: (work) =>
      twiceAtDeadlock(async () =>
        // Each answer by itself: what `work` throws of its own says nothing of the server.
        lend(await asked(pool.connect()), (client) =>
          inTransaction({ query: (text, values) => asked(client.query(text, values)) }, work),
        ),
      ),
    listen: (channel, notified) =>
      listenToChannel({ config: configOf(options), log: options.log, channel, notified }),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

/** Throws where `work` has passed over an error of the state: the server answers such a commit with a rollback. */
async function inTransaction<T>(
  client: Lent,
  work: (transaction: Queryable) => Promise<T>,
): Promise<T> {
  await client.query('begin')
  try {
    const result = await work(client)
    const { command } = await client.query('commit')
    invariant(command === 'COMMIT', 'a transaction with a failed statement is not committed')
    return result
  } catch (error) {
    // On a lost connection nothing can be rolled back, nor needs to be: the server has done it.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** The answer of the server; throws state_unavailable where that is away. */
export const serverAnswer = <T>(answer: Promise<T>, called = 'the state'): Promise<T> =>
  answer.catch((error: unknown) => {
    throw isAway(error) ? away(called, error) : error
  })

/** Asks once more after a deadlock, which has changed nothing. */
export const twiceAtDeadlock = <T>(ask: () => Promise<T>): Promise<T> =>
  ask().catch((error: unknown) => {
    if (isDeadlock(error)) return ask()
    throw error
  })

export type PoolOptions = {
  readonly address: StateAddress
  readonly connections: number
  readonly log: Logger
  /** Statements take as long as they take: for the migrations of a large state. */
  readonly unhurried?: boolean
  /** A statement is planned once, for any values: for frequent ones whose plan is the same for all. */
  readonly plansOnce?: boolean
  /** Told of the statements of these connections, whose CPU in the server is measured by their name (backend-cpu.ts). */
  readonly measured?: MeasuredConnections
}

export interface MeasuredConnections {
  readonly name: string
  /** A statement begins or ends. */
  count(change: 1 | -1): void
}

/** The driver's pool, for a library that works on the state by itself. Lost connections are logged. */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool(configOf(options))
  pool.on('error', (error) => {
    // The pool has ended before the server has read its goodbyes: a server that stops then ends them itself.
    if (!pool.ending) options.log.warn('A state connection was lost', { error: messageOf(error) })
  })
  // A server that stops may end a connection in the piece of bytes that makes it ready: between the pool, which listens
  // no more, and its borrower, who does not yet. Unheard, that ends the process; the next query fails in any case.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** The config of the driver, for one connection or a pool. */
export const configOf = (options: PoolOptions): pg.PoolConfig => ({
  ...('url' in options.address ? urlConfig(options.address) : options.address),
  max: options.connections,
  connectionTimeoutMillis: WAIT_MS_MAX,
  ...(options.unhurried === true
    ? // So that a server that is gone is noticed at all.
      { keepAlive: true }
    : {
        statement_timeout: STATEMENT_TIMEOUT_MS,
        query_timeout: ANSWER_TIMEOUT_MS,
        idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      }),
  idleTimeoutMillis: 60_000,
  application_name: options.measured?.name ?? 'ergon',
  ...(options.plansOnce === true && { options: '-c plan_cache_mode=force_generic_plan' }),
  ...(options.measured !== undefined && { options: WITHOUT_HELPERS }),
})

/** A statement runs in the process of its connection alone. */
const WITHOUT_HELPERS = '-c max_parallel_workers_per_gather=0 -c max_parallel_maintenance_workers=0'

const urlConfig = ({ url, tls }: { url: string; tls?: StateTls }): pg.PoolConfig => ({
  connectionString: url,
  ...(tls !== undefined && { ssl: tlsOptions(tls) }),
})

const tlsOptions = ({ proof, ...texts }: StateTls): ConnectionOptions => ({
  ...texts,
  ...(proof === 'none' && { rejectUnauthorized: false }),
  ...(proof === 'authority' && { checkServerIdentity: () => undefined }),
})

// SQLSTATE classes: the connection, too many of them, an operator's or a time-out's intervention, and the
// server's disk (58030: a log that cannot be synced ends the server, which then recovers).
const AWAY = /^(08|53|57|58)/

// Errors that leave a connection usable: refusals of ours (EG, ERG, P0001), and of data, constraints and locks. After
// other errors a new connection may do better: a prepared statement can have become impossible (0A000).
const REFUSAL = /^(EG|ERG|22|23|40|P0)/

/** The SQLSTATE of an error that a server reported. */
const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError || error instanceof ServerError ? (error.code ?? '') : undefined

/** The connection may go on after an error of this SQLSTATE. */
export const isHarmlessState = (sqlState: string): boolean => REFUSAL.test(sqlState)

/** An error with a code that is not the server's comes from the caller of the connection. */
function breaks(error: Error): boolean {
  const sqlState = sqlStateOf(error)
  return (
    isStateAway(error) || (sqlState === undefined ? !('code' in error) : !isHarmlessState(sqlState))
  )
}

const isDeadlock = (error: unknown): boolean => sqlStateOf(error) === '40P01'

/** True for an error that the server reported while it is there, and goes on: the statement was rolled back. */
export const isRefusedByState = (error: unknown): boolean =>
  sqlStateOf(error) !== undefined && !endsConnection(error)

/** A FATAL or PANIC may come behind a commit: `cannot abort transaction, it was already committed`. */
const endsConnection = (error: unknown): boolean =>
  error instanceof ServerError
    ? error.isFatal
    : error instanceof pg.DatabaseError && /^(FATAL|PANIC)$/.test(error.severity ?? '')

/**
 * True where the disk cannot read a page of a table (an unreadable sector). The statement was rolled back, and others are
 * served: unlike after a failed sync, which ends the server.
 */
export const isUnreadablePage = (error: unknown): boolean =>
  sqlStateOf(error) === '58030' &&
  !endsConnection(error) &&
  messageOf(error).startsWith('could not read block')

/** True for a statement that waited longer than its `lock_timeout` for another transaction. */
export const isLocked = (error: unknown): boolean => sqlStateOf(error) === '55P03'

/** A row of the same unique key exists. */
export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === '23505'

function isAway(error: unknown): boolean {
  const sqlState = sqlStateOf(error)
  if (sqlState !== undefined) return AWAY.test(sqlState) && !isUnreadablePage(error)
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError)
}

const away = (called: string, cause: unknown) =>
  fault('state_unavailable', `Could not ask ${called}: ${messageOf(cause)}`, {
    cause,
    retryAfterS: 1,
  })

/** True for an error of a query while the server is away: further queries are of no use. */
export const isStateAway = (error: unknown): boolean =>
  error instanceof ErgonError && error.code === 'state_unavailable'

/** A connection that is lent out, which also says what the server did. */
interface Lent extends Queryable {
  query<R extends SqlRow = SqlRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ rows: R[]; rowCount: number; command: string }>
}

function queryable(
  client: pg.PoolClient,
  names: Map<string, string> | undefined,
  measured: MeasuredConnections | undefined,
): Lent {
  return {
    async query<R extends SqlRow>(text: string, values: readonly unknown[] = []) {
      const name = names && nameOf(names, text)
      const query = { text, values: [...values], ...(name === undefined ? {} : { name }) }
      measured?.count(1)
      const result = await client.query<R>(query).finally(() => measured?.count(-1))
      return { rows: result.rows, rowCount: result.rowCount ?? 0, command: result.command }
    },
  }
}

/** The server keeps a statement for each, on each connection: beyond these they go without. */
const PREPARED_MAX = 100

function nameOf(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= PREPARED_MAX) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}
