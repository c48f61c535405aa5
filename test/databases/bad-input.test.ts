// Bad input at the database endpoint, and sessions that take what they can. Each has its SQLSTATE or a clean end, and is
// charged to its own account; a session of another account goes on meanwhile. ERGON_LONG=1 is larger.
//
// Elsewhere: garbage before the login (databases.test.ts, src/databases/proxy/handshake.test.ts). Attacks with COPY
// PROGRAM, extensions and dblink are in isolation.test.ts, rows after kill -9 in durability.test.ts, full databases in
// databases.test.ts and src/databases/size.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { readTree } from '#cells/process-table.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { STRANGERS_MAX } from '#databases/proxy/strangers.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { int32, message, SSL_REQUEST, startupMessage } from '#wire/messages.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { startCanary, type Canary } from './canary.ts'
import { connectTo, endOf, makeDatabase, until, withClient } from './driver.ts'
import { grownBytes } from './grown-bytes.ts'
import { cellOf, copy } from './programs.ts'

product(PLAIN)

const LONG = process.env['ERGON_LONG'] === '1'
const HALF_OPEN = LONG ? 10_000 : 700
const CONNECTIONS = LONG ? 1000 : 120
const COPY_BYTES = LONG ? 10_000_000_000 : 150_000_000
const CHUNK_BYTES = 1_000_000
/** More than buffers of sockets, less than any of the transfers. */
const GROWTH_MAX_BYTES = 96 * 1024 * 1024
/** Sent to a side that does not read. */
const HELD_BACK_BYTES = 120_000_000
const PROXY = 'pg-proxy-1'
/** Ends of connections, and of backends without a client. */
const ENDED_MAX_MS = 25_000
const timeout = LONG ? 3_600_000 : 120_000
const NAME = 'bad_input'

let url: URL
let cell: string
let canary: Canary
/** Without TLS, which the endpoint asks only of other machines. */
const PLAIN_TEXT = { ssl: false, enableChannelBinding: false } as const
before(async () => {
  url = await makeDatabase(sharedErgon(), NAME)
  cell = cellOf(url.href)
  canary = await startCanary(sharedErgon())
})
after(async () => {
  await canary?.stop().catch(() => undefined)
})

const open = (): Socket => connectTcp(Number(url.port), url.hostname).on('error', () => undefined)
/** The socket of a client. */
const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** Everything until the end of a connection. */
async function answerTo(socket: Socket, bytes: Buffer): Promise<string> {
  const said: Buffer[] = []
  socket.on('data', (chunk: Buffer) => said.push(chunk))
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(ENDED_MAX_MS) })
  socket.write(bytes)
  await closed
  return Buffer.concat(said).toString('latin1')
}

/** Charges of an account for the CPU of the endpoint, by database. */
async function sessionsOf(account: string): Promise<Record<string, bigint>> {
  const rows = await sharedErgon().sql<{ bytes: Buffer }>(
    "select bytes from charges where account = $1 and operation = 'database.session'",
    [account],
  )
  const sums: Record<string, bigint> = {}
  for (const { bytes } of rows) {
    const { resource = '', energy_nj: energy } = parseCharge(bytes)
    sums[resource] = (sums[resource] ?? 0n) + BigInt(energy)
  }
  return sums
}

const strangers: Socket[] = []
const CLOSED_OR_FULL = /^(53300|ECONNRESET|Connection terminated unexpectedly)$/

test(`${HALF_OPEN} half-open handshakes are ended, and keep nobody out`, { timeout }, async () => {
  const beginnings = [
    Buffer.alloc(0),
    int32(8),
    Buffer.concat([int32(8), int32(SSL_REQUEST)]),
    Buffer.from([0x16, 3, 1, 2, 0]),
    startupMessage(new Map([['user', url.username]])),
  ]
  for (let nth = 0; nth < HALF_OPEN; nth++) {
    const socket = open()
    socket.resume()
    strangers.push(socket)
    socket.write(beginnings[nth % beginnings.length] ?? '')
    if (nth % 100 === 99) await pause(10)
  }
  await withClient(url, (client) => client.query('select 1'))
})

test('messages with lengths that none has are refused or end the connection, in and after the login', async () => {
  const login = startupMessage(new Map([['user', url.username]]))
  const header = (type: string, length: number) => Buffer.concat([Buffer.from(type), int32(length)])
  for (const length of [1_000_000_000, 0x7fffffff, 8197, 3, 0, -1]) {
    const said = await answerTo(open(), Buffer.concat([login, header('p', length)]))
    assert.match(said, /C08P01\0/, `a password message of ${length} bytes`)
  }
  const afterLogin = async (bytes: Buffer): Promise<string> => {
    const client = await connectTo(url, PLAIN_TEXT)
    return await answerTo(streamOf(client), bytes)
  }
  for (const length of [3, 0, -1, 0x7fffffff])
    assert.match(await afterLogin(header('Q', length)), /C08P01\0/, `a query of ${length} bytes`)
  // Too long for its type: the server closes the connection without words.
  assert.match(await afterLogin(header('S', 20_000)), /C57P02\0/)
  assert.match(await afterLogin(message(0x79, 'x')), /C08P01\0Minvalid frontend message type 121/)
  assert.match(await afterLogin(Buffer.alloc(64, 0x41)), /C08P01/)
  // A query that never comes keeps its own session alone; its end is the client's.
  const grown = await grownBytes(await sharedErgon().pidOf(PROXY), async () => {
    const waiting = await connectTo(url, PLAIN_TEXT)
    streamOf(waiting).write(header('Q', 900_000_000))
    await withClient(url, (client) => client.query('select 1'))
    streamOf(waiting).destroy()
  })
  assert.ok(grown < GROWTH_MAX_BYTES, `${grown} bytes more`)
})

test(`${SESSIONS_MAX} of ${CONNECTIONS} connections at once are served, the others refused, and none hangs`, async () => {
  const outcomes = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      connectTo(url, PLAIN_TEXT).catch(
        (error: { code?: string; message: string }) => error.code ?? error.message,
      ),
    ),
  )
  const clients = outcomes.filter((outcome) => typeof outcome === 'object')
  assert.equal(clients.length, SESSIONS_MAX)
  const refusals = outcomes.filter((outcome) => typeof outcome !== 'object')
  assert.ok(refusals.includes('53300'))
  // Of more logins at once than the endpoint keeps, the oldest are closed.
  const isCrowded = CONNECTIONS > STRANGERS_MAX
  for (const refusal of refusals) assert.match(refusal, isCrowded ? CLOSED_OR_FULL : /^53300$/)
  await Promise.all(clients.map((client) => client.query('select 1')))
  await Promise.all(clients.map((client) => client.end()))
  await withClient(url, (client) => client.query('select 1'))
})

test(
  `COPY of ${COPY_BYTES / 1e6} MB in and out takes no memory of the proxy`,
  { timeout },
  async (t) => {
    await withClient(url, (client) => client.query('create table copied (line text)'))
    const grown = await grownBytes(await sharedErgon().pidOf(PROXY), async () => {
      // Read by the server as any other, and not stored.
      await copy(url, 'copy copied from stdin where false', COPY_BYTES)
      const rows = COPY_BYTES / CHUNK_BYTES
      const sql = `copy (select repeat('x', ${CHUNK_BYTES - 1}) from generate_series(1, ${rows})) to stdout`
      assert.equal(await copy(url, sql, 0), COPY_BYTES)
    })
    t.diagnostic(`${Math.round(grown / 1024)} KiB more`)
    assert.ok(grown < GROWTH_MAX_BYTES, `${grown} bytes more`)
  },
)

const FOR_EVER = 'select pg_sleep(1000000000)'
/** Backends of the clients that do something like this, as another session sees them. */
const busy = (like: string): Promise<number> =>
  withClient(
    url,
    async (client) => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where query like $1 and state <> 'idle'
       and pid <> pg_backend_pid()`,
        [like],
      )
      return rows[0]?.count ?? 0
    },
    PLAIN_TEXT,
  )

test('a client that does not read, and a server that does not, hold the other side back', async (t) => {
  const grown = await grownBytes(await sharedErgon().pidOf(PROXY), async () => {
    const reader = await connectTo(url, PLAIN_TEXT)
    const rows = HELD_BACK_BYTES / CHUNK_BYTES
    reader
      .query(`select repeat('x', ${CHUNK_BYTES}) from generate_series(1, ${rows})`)
      .catch(() => undefined)
    streamOf(reader).pause()
    const writer = await connectTo(url, PLAIN_TEXT)
    writer.query(FOR_EVER).catch(() => undefined)
    streamOf(writer).write(message(0x51, Buffer.alloc(HELD_BACK_BYTES)))
    await pause(1000)
    assert.equal(await busy('select repeat%'), 1)
    assert.ok(streamOf(writer).writableLength > HELD_BACK_BYTES / 2)
    for (const client of [reader, writer]) streamOf(client).destroy()
    await until('both backends are gone', async () => (await busy('select%')) === 0)
  })
  t.diagnostic(`${Math.round(grown / 1024)} KiB more`)
  assert.ok(grown < GROWTH_MAX_BYTES, `${grown} bytes more`)
})

test('planted fault: a process that keeps what it is sent is found', async (t) => {
  const keeps =
    'const all = []; process.stdin.on("data", (chunk) => all.push(Buffer.from(chunk, 1)))'
  const child = spawn(process.execPath, ['-e', keeps], { stdio: ['pipe', 'ignore', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const grown = await grownBytes(child.pid ?? 0, async () => {
    for (let left = HELD_BACK_BYTES; left > 0; left -= CHUNK_BYTES)
      if (!child.stdin.write(Buffer.alloc(CHUNK_BYTES, 1))) await once(child.stdin, 'drain')
  })
  assert.ok(grown > GROWTH_MAX_BYTES, `${grown} bytes more`)
})

test('a query that sleeps for ever ends with its client, and with a suspended database', async () => {
  const gone = await connectTo(url)
  gone.query(FOR_EVER).catch(() => undefined)
  await until('it sleeps', async () => (await busy(`${FOR_EVER}%`)) === 1)
  streamOf(gone).destroy()
  await until('its backend is gone', async () => (await busy(`${FOR_EVER}%`)) === 0)
  const client = await connectTo(url)
  const ended = endOf(client)
  const refused = assert.rejects(client.query(FOR_EVER), { code: '57P03' })
  assert.equal((await sharedErgon().cli('db', 'suspend', NAME)).code, 0)
  await Promise.all([refused, ended])
  await assert.rejects(connectTo(url), { code: '57P03' })
  assert.equal((await sharedErgon().cli('db', 'resume', NAME)).code, 0)
  await until('it answers again', () =>
    withClient(url, async (again) => (await again.query('select 1')).rowCount === 1).catch(
      () => false,
    ),
  )
})

test('parallel workers of all sessions stay below the limit of processes, and every query is answered', async (t) => {
  await withClient(url, (client) =>
    client.query(`create table numbers as select generate_series(1, 20000) as n; analyze numbers;
      alter table numbers set (parallel_workers = 100)`),
  )
  const clients = await Promise.all(
    Array.from({ length: LONG ? SESSIONS_MAX : 15 }, () => connectTo(url, PLAIN_TEXT)),
  )
  let most = 0
  const { cells } = await sharedErgon().control('node.status')
  const leader = cells.find(({ name }) => name === cell)?.launcher_pid ?? 0
  const timer = setInterval(() => (most = Math.max(most, readTree({ leader }).length)), 10)
  await Promise.all(
    clients.map(async (client) => {
      await client.query(`set max_parallel_workers_per_gather = 1024; set max_parallel_workers = 1024;
        set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0`)
      for (let left = 3; left > 0; left--) {
        const { rows } = await client.query<{ sum: string }>('select sum(n) from numbers')
        assert.equal(rows[0]?.sum, '200010000')
      }
    }),
  ).finally(() => clearInterval(timer))
  await Promise.all(clients.map((client) => client.end()))
  t.diagnostic(`${most} processes at most`)
  // The server's own, the sessions and those kept, and eight workers.
  assert.ok(most > clients.length && most < 100, `${most} processes`)
})

test('a full table of locks is an error of the session that fills it and of those that write, not of readers', async () => {
  await withClient(url, (client) => client.query('create table locked (id int)'))
  const taker = await connectTo(url)
  await assert.rejects(
    taker.query('select pg_advisory_lock(n) from generate_series(1, 1000000) n'),
    { code: '53200' },
  )
  // The session holds those that it got.
  await withClient(url, async (other) => {
    assert.equal((await other.query('select from locked')).rowCount, 0)
    await assert.rejects(other.query('insert into locked values (1)'), { code: '53200' })
    assert.equal((await other.query('select from locked')).rowCount, 0)
  })
  await taker.end()
  await withClient(url, async (other) => {
    await other.query('insert into locked values (1)')
  })
})

/** The error of a client that writes while something is killed: its code, or the word of a closed socket. */
async function seenAt(kill: () => Promise<void>): Promise<string> {
  const client = await connectTo(url)
  const write = async (): Promise<never> => {
    for (;;) await client.query('insert into locked values (2)')
  }
  const ended = endOf(client)
  const writing = write().catch((error: { code?: string; message: string }) => error)
  await pause(100)
  await kill()
  const last = await writing
  // Between two statements the driver tells it as an event.
  const error = /not queryable/.test(last.message) ? await ended : last
  await client.end().catch(() => undefined)
  return error.code ?? error.message
}

const CLOSED = /^(57P0[123]|ECONNRESET|EPIPE|Connection terminated.*)$/
const again = () =>
  until('a client is served again', () =>
    withClient(url, async (client) => (await client.query('select 1')).rowCount === 1).catch(
      (error: { code?: string; message: string }) => {
        assert.match(error.code ?? error.message, /^(57P0[123]|ECONNRE(SET|FUSED)|Connection .*)$/)
        return false
      },
    ),
  )

test('kill -9 of the server ends its sessions alone, and the next connection is served', async () => {
  assert.match(await seenAt(() => sharedErgon().killCell(cell)), CLOSED)
  await again()
})

test('kill -9 of the process of backups is not felt by clients, and it is back', async () => {
  const client = await connectTo(url)
  const backups = 'db-backups'
  const before = await sharedErgon().pidOf(backups)
  await client.query('insert into locked values (3)')
  await sharedErgon().killCell(backups)
  await client.query('insert into locked values (4)')
  await client.end()
  await until('it runs again', async () => {
    const now = await sharedErgon()
      .pidOf(backups)
      .catch(() => before)
    return now !== before
  })
})

test('nothing of this was felt by a session of another account', async (t) => {
  await until('every half-open handshake is ended', () => strangers.every(({ closed }) => closed))
  t.diagnostic(`${canary.answers} answers, the slowest after ${Math.round(canary.slowestMs)} ms`)
  assert.ok(canary.answers > 20)
  await canary.stop()
})

test('the endpoint charges each account for its own database', async () => {
  const ergon = sharedErgon()
  const [mine, theirs] = [`database:db_${url.username.slice(2)}`, `database:${canary.database}`]
  // A proxy that is asked to end charges what it has counted; a killed one loses it.
  process.kill(await ergon.pidOf(PROXY), 'SIGTERM')
  await until('both are charged', async () => {
    const sums = [await sessionsOf(ergon.account), await sessionsOf(canary.account)]
    return sums[0]?.[mine] !== undefined && sums[1]?.[theirs] !== undefined
  })
  const others = await sessionsOf(canary.account)
  assert.deepEqual(Object.keys(others), [theirs])
  const own = (await sessionsOf(ergon.account))[mine] ?? 0n
  assert.ok(own > 5n * (others[theirs] ?? 0n), `${own} nJ, and ${others[theirs]} nJ of the other`)
  await again()
})

test('kill -9 of the proxy ends its sessions, and the next connection is served', async () => {
  assert.match(await seenAt(() => sharedErgon().killCell(PROXY)), CLOSED)
  await again()
})

test(
  'kill -9 of the agent ends its sessions, and the next connection is served',
  { skip: !LONG && 'ERGON_LONG=1' },
  async () => {
    const kill = async () => {
      await sharedErgon().kill()
    }
    assert.match(await seenAt(kill), CLOSED)
    await sharedErgon().resume()
    await again()
  },
)

test('a deleted database leaves no fault in the books', async () => {
  const ergon = sharedErgon()
  assert.equal((await ergon.cli('db', 'delete', NAME, '--force')).code, 0)
  assert.deepEqual(await bookFaults(ergon), [])
})
