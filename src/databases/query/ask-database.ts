// A query as a client of the endpoint asks it: by the unix socket of a proxy, in a read-only transaction that its one
// statement cannot leave. The proxy wakes the database and bills the session.
import { once } from 'node:events'
import { Socket } from 'node:net'
import pg from 'pg'
import { sleep } from '#base/clock.ts'
import { QUERY_MS_MAX } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { COLUMN_TYPES } from './column-types.ts'
import { LimitedQuery, type QueryColumn } from './limited-query.ts'

export type QueryLogin = {
  /** The folder of the proxy's socket. */
  readonly socketFolder: string
  readonly user: string
  readonly password: string
  readonly database: string
}

export type AskedQuery = { readonly sql: string; readonly rowsMax: number }

export type QueryAnswer = {
  readonly command: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly (string | null)[])[]
  readonly isCut: boolean
  readonly durationMs: number
}

/** A part of the socket's name. */
const SOCKET_PORT = 5432
const TEXT_BYTES_MAX = 1_000_000
/** The most bytes of everything that the server says: a single value may have 1 GB. */
export const SAID_BYTES_MAX = 8_000_000
/** For the database to wake, and for the role to be made in it. */
const WAKE_MS = 12_000
const WAKE_PAUSE_MS = 200
/** For the steps before and after the statement. */
const LATE_MS = 5000
/** The SQLSTATE of a database that is being made ready. */
const STARTING = '57P03'
/** The message of pg. */
const CUT_OFF = 'Connection terminated unexpectedly'
/** A statement has one process: the time limit is then a limit of its CPU. */
const ONE_PROCESS = '-c max_parallel_workers_per_gather=0'

/**
 * Runs one statement. Rejects with a DatabaseError of the server or the proxy, `database_not_ready`,
 * `database_result_too_large`, or the signal's reason. `mark` is called when bytes have come.
 */
export async function askDatabase(
  login: QueryLogin,
  asked: AskedQuery,
  { signal, mark }: { readonly signal: AbortSignal; readonly mark: () => void },
): Promise<QueryAnswer> {
  const client = await connectAwake(login, signal, mark)
  // The statement may change its session, with the server's time limit for later steps.
  const late = setTimeout(() => client.connection.stream.destroy(), QUERY_MS_MAX + LATE_MS)
  try {
    await client.query('begin transaction read only')
    const { fields, ...answer } = await answerOf(client, asked)
    // The settings that the statement made end with its transaction; the backend is as for the next session.
    await client.query('rollback')
    return { ...answer, columns: await columnsOf(client, fields) }
  } catch (error) {
    signal.throwIfAborted()
    throw errorOf(error, login)
  } finally {
    clearTimeout(late)
    await client.end()
  }
}

/** A connection that ends amid an answer has no message: its server was ended, or took too long. */
const errorOf = (error: unknown, { database }: QueryLogin): unknown =>
  error instanceof Error && error.message === CUT_OFF
    ? fault(
        'database_not_ready',
        `Could not run the query: ${database} ended the session before its answer`,
        {
          cause: error,
        },
      )
    : error

type Rows = Omit<QueryAnswer, 'columns'> & { readonly fields: readonly QueryColumn[] }

async function answerOf(client: pg.Client, { sql, rowsMax }: AskedQuery): Promise<Rows> {
  const query = new LimitedQuery(sql, { rows: rowsMax, bytes: TEXT_BYTES_MAX })
  const beganMs = performance.now()
  const ended = once(query, 'end')
  client.query(query)
  const [result] = (await ended) as [{ command: string | null; fields: readonly QueryColumn[] }]
  const durationMs = performance.now() - beganMs
  return {
    command: result.command ?? sql.trim().split(/\s/, 1)[0]?.toUpperCase() ?? '',
    fields: result.fields,
    rows: query.found,
    isCut: query.isCut,
    durationMs,
  }
}

/** Connects, and waits while the database is being made ready. */
async function connectAwake(
  login: QueryLogin,
  signal: AbortSignal,
  mark: () => void,
): Promise<pg.Client> {
  const lastMs = performance.now() + WAKE_MS
  for (;;) {
    const client = clientOf(login, signal, mark)
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      signal.throwIfAborted()
      if (error instanceof pg.DatabaseError && error.code !== STARTING) throw error
      if (performance.now() > lastMs)
        throw fault(
          'database_not_ready',
          `Could not run the query: ${login.database} did not wake`,
          {
            cause: error,
          },
        )
    }
    await sleep(WAKE_PAUSE_MS, signal)
  }
}

function clientOf(
  { socketFolder, user, password, database }: QueryLogin,
  signal: AbortSignal,
  mark: () => void,
): pg.Client {
  const socket = new Socket()
  const stop = () => socket.destroy()
  signal.addEventListener('abort', stop, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', stop))
  let bytes = 0
  socket.on('data', (chunk) => {
    mark()
    bytes += chunk.length
    if (bytes > SAID_BYTES_MAX)
      socket.destroy(
        fault(
          'database_result_too_large',
          `Could not run the query: its answer is larger than ${SAID_BYTES_MAX} bytes`,
        ),
      )
  })
  const client = new pg.Client({
    host: socketFolder,
    port: SOCKET_PORT,
    user,
    password,
    database,
    stream: () => socket,
    statement_timeout: QUERY_MS_MAX,
    connectionTimeoutMillis: WAKE_MS,
    options: ONE_PROCESS,
  })
  // Its queries reject with the same.
  client.on('error', () => undefined)
  return client
}

/** The columns with the names of their types. */
async function columnsOf(client: pg.Client, fields: readonly QueryColumn[]) {
  const { rows } = await client.query<{ type: string }>(COLUMN_TYPES, [
    fields.map(({ dataTypeID }) => dataTypeID),
    fields.map(({ dataTypeModifier }) => dataTypeModifier),
  ])
  return fields.map(({ name }, place) => ({ name, type: rows[place]?.type ?? '' }))
}
