// Energy budgets of databases: runaway queries of each kind are ended by their budget and never billed above it. The
// machine spends little beyond it, and a raised budget goes on by itself.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'

const WAIT_MS = 90_000
const NJ_PER_J = 1_000_000_000
/** Between two commands that look for the same. */
const COMMAND_REST_MS = 1000
/** Beyond a budget the machine may spend so much, which is the operator's. */
const LOSS_MAX_J = 1
const LONG = process.env['ERGON_LONG'] === '1'
const ROUNDS = LONG ? 5 : 1
/** Energy of a run: a second of one processor, and more in the long form. */
const ROOM_J = LONG ? 10 : 5
/** The least that a budget may be. */
const LEAST_J = 10

let ergon: Ergon
let url: URL
let id: string
before(async () => {
  ergon = await startErgon({ models: 'none', env: { ERGON_DB_IDLE_SECONDS: '5' } })
})
after(() => ergon?.stop())

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: url.password,
    database: url.pathname.slice(1),
    ssl: { rejectUnauthorized: false },
  })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The error that ends a session which does this for ever. */
async function endOf(
  act: (client: pg.Client) => Promise<unknown>,
  connecting = connect(),
): Promise<pg.DatabaseError> {
  const client = await connecting
  const ended = new Promise<Error>((resolve) => client.on('error', resolve))
  const error = await act(client).then(
    () => ended,
    (cause: Error) => cause,
  )
  await client.end().catch(() => undefined)
  return error as pg.DatabaseError
}

const LOOP = 'do $$ begin loop perform 1; end loop; end $$'
const PARALLEL = 'select count(*) from big a, big b where (a.n * b.n) % 7 = 1'

/** Queries that never end by themselves, by their kind; each resolves with the errors that ended it. */
const QUERIES: Readonly<Record<string, () => Promise<readonly pg.DatabaseError[]>>> = {
  'parallel workers': async () => [
    await endOf(async (client) => {
      await client.query(
        'set max_parallel_workers_per_gather = 4; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0',
      )
      await client.query(PARALLEL)
    }),
  ],
  'sleepers beside a loop': () =>
    Promise.all([
      endOf((client) => client.query('select pg_sleep(600)')),
      endOf((client) => client.query('select pg_sleep(600)')),
      endOf((client) => client.query(LOOP)),
    ]),
  'sessions that begin more sessions': () =>
    Promise.all(
      Array.from({ length: 12 }, async (_, nth) => {
        await pause(50 * nth)
        return await endOf((client) => client.query(LOOP)).catch((error: pg.DatabaseError) => error)
      }),
    ),
}
/** Clients that connect again and again. The proxy has a great part of their energy. */
const CLIENTS: typeof QUERIES = {
  'short connections': async () => [
    await endOfRounds((client) => client.query('select count(*) from generate_series(1, 200000)')),
  ],
  'logins without a query': async () => [await endOfRounds(async () => undefined)],
}

const together = async (kinds: typeof QUERIES) =>
  (await Promise.all(Object.values(kinds).map((run) => run()))).flat()

/** One kind after the other in the long form. */
const RUNAWAYS: typeof QUERIES = LONG
  ? { ...QUERIES, ...CLIENTS }
  : {
      'queries of all kinds': () => together(QUERIES),
      'clients of all kinds': () => together(CLIENTS),
    }

/** Logins have a pace of their own. */
const TOO_MANY_LOGINS = '53300'

/** The error that ends clients which connect again and again. */
async function endOfRounds(
  act: (client: pg.Client) => Promise<unknown>,
): Promise<pg.DatabaseError> {
  for (;;) {
    const round = await Promise.all(
      Array.from({ length: 4 }, async () => {
        try {
          const client = await connect()
          await act(client)
          await client.end()
          return undefined
        } catch (error) {
          return error as pg.DatabaseError
        }
      }),
    )
    const errors = round.filter((one) => one !== undefined)
    const last = errors.find(({ code }) => code !== TOO_MANY_LOGINS)
    if (last !== undefined) return last
    if (errors.length > 0) await pause(100)
  }
}

const cellOf = () => id.replace('_', '-')

type Joules = { readonly used: number; readonly charged: number; readonly sessions: number }

/** Joules that the server used today by the windows, those charged of it, and those of its sessions in the proxy. */
async function joules(): Promise<Joules> {
  const [row] = await ergon.sql<{ used: string; charged: string; sessions: string }>(
    `select (select coalesce(sum((s ->> 'dynamic_nj')::numeric + (s ->> 'idle_nj')::numeric), 0)
        from windows, jsonb_array_elements(convert_from(bytes, 'UTF8')::jsonb -> 'shares') s
        where s ->> 'name' = $1)::text as used,
      (select coalesce(sum(energy_nj), 0) from charges
        where operation = 'cell.standing' and convert_from(bytes, 'UTF8')::jsonb ->> 'resource' = $2)::text as charged,
      (select coalesce(sum(energy_nj), 0) from charges where operation = 'database.session'
        and convert_from(bytes, 'UTF8')::jsonb ->> 'resource' = $2)::text as sessions`,
    [cellOf(), `database:${id}`],
  )
  const joulesOf = (nj: string | undefined) => Number(nj) / NJ_PER_J
  return {
    used: joulesOf(row?.used),
    charged: joulesOf(row?.charged),
    sessions: joulesOf(row?.sessions),
  }
}

async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  restMs = 100,
): Promise<T> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    assert.ok(performance.now() < lastMs, what)
    await pause(restMs)
  }
}

/** Resolves when nothing of the server is left and its last window is charged. */
async function untilCharged(): Promise<Joules> {
  let before = -1
  return await until('the last charge', async () => {
    // Longer than a window.
    await pause(1200)
    const now = await joules()
    const sum = now.used + now.sessions
    const isSame = sum === before
    before = sum
    return isSame ? now : undefined
  })
}

/** An ended server gives back unused energy of the budget, so another server may still start for a moment. */
const untilRefused = () =>
  until('a login is refused', async () => {
    const error = await connect().then(
      (client) => client.end(),
      (refused: pg.DatabaseError) => refused,
    )
    return error?.code === '53400' ? error : undefined
  })

const budget = async (text: string) => {
  const { code, stderr } = await ergon.cli('db', 'budget', 'capped', text)
  assert.equal(code, 0, stderr)
}

test('a database is made with an energy budget, which is shown with what is used of it', async () => {
  const { code, stdout, stderr } = await ergon.cli(
    'db',
    'create',
    'capped',
    '--energy-budget',
    '5 kJ/day',
    '--json',
  )
  assert.equal(code, 0, stderr)
  const made = JSON.parse(stdout) as { id: string; energy_budget: string }
  assert.equal(made.energy_budget, '5 kJ/day')
  id = made.id
  url = new URL((await ergon.cli('db', 'url', 'capped')).stdout.trim())
  const client = await connect()
  await client.query('create table big as select n from generate_series(1, 20000) n')
  await client.end()
  const bad = await ergon.cli('db', 'budget', 'capped', '5 kJ')
  assert.match(bad.stderr, /energy_budget.*such as 5 kJ\/day/)
})

for (let round = 1; round <= ROUNDS; round++)
  for (const [kind, run] of Object.entries(RUNAWAYS))
    test(`${kind} are ended by the budget and not billed above it (${round})`, async (t) => {
      const before = await joules()
      const limit = Math.max(LEAST_J, Math.ceil(before.charged + before.sessions) + ROOM_J)
      await budget(`${limit} J/day`)
      // A lowered budget takes what is held back within a moment.
      await pause(500)
      for (const error of await run()) {
        assert.equal(error.code, '53400', error.message)
        assert.match(error.message, /energy budget/)
        assert.match(String(error.hint), /ergon db budget capped .*00:00 UTC/)
      }
      await untilRefused()
      const { used, charged, sessions } = await untilCharged()
      const loss = used - charged - (before.used - before.charged)
      const all = charged + sessions
      t.diagnostic(
        `limit ${limit} J, charged ${all} J, in the proxy ${(sessions - before.sessions).toFixed(3)} J, beyond ${loss.toFixed(3)} J`,
      )
      assert.ok(all <= limit, `${all} J charged of ${limit}`)
      assert.ok(all > limit - 3, `${all} J charged of ${limit}: ended too early`)
      assert.ok(loss <= LOSS_MAX_J, `${loss} J beyond the budget`)
    })

test('an account that cannot pay reads so in its driver, in the middle of a session too', async () => {
  const { id: account } = await ergon.control('account.create', {})
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const fund = (joules: number) =>
    ergon.sql(
      "select grant_funds($1, ceil($2 * pusd_per_j), 'test', 10, 'grant') from current_price()",
      [account, joules],
    )
  await fund(15)
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const given = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${ergon.baseUrl}${path}`, { headers, ...given })
    return (await answer.json()) as { status: string; url: string }
  }
  await ask('/v1/databases', { name: 'poor' })
  await until('the database', async () => {
    return (await ask('/v1/databases/poor')).status === 'deployed' || undefined
  })
  const capped = url
  try {
    url = new URL((await ask('/v1/databases/poor/url')).url)
    // Gateways that served the account have leases of its little money, and give them back within a second or two.
    const admitted = () => until('a session', () => connect().catch(() => undefined))
    const error = await endOf((client) => client.query(LOOP), admitted())
    assert.equal(error.code, '53400', error.message)
    assert.match(String(error.hint), /adds? funds/i)
    assert.match(String((await untilRefused()).hint), /adds? funds/i)
    await fund(100)
    const client = await admitted()
    await client.query('select 1')
    await client.end()
  } finally {
    url = capped
  }
})

test('a raised budget goes on by itself, and events tell of each budget', async () => {
  await budget('5 kJ/day')
  const client = await connect()
  await client.query('select 1')
  await client.end()
  const rows = await ergon.sql<{ type: string }>(
    "select type from events where type like 'energy_budget.%' order by sequence",
  )
  assert.deepEqual(
    rows.slice(0, 2).map(({ type }) => type),
    ['energy_budget.warning', 'energy_budget.exceeded'],
  )
})

type Queries = {
  readonly energy_j: number
  readonly other_j: number
  readonly rest_j: number
  readonly data: readonly { readonly query: string; readonly energy_j: number }[]
}

test('the energy of a database is what it was charged, and its queries have parts of that of the server', async () => {
  // The statements of a server are read 3 s after its start, and then each 30 s.
  for (const verb of ['suspend', 'resume'])
    assert.equal((await ergon.cli('db', verb, 'capped')).code, 0)
  assert.equal((await ergon.cli('db', 'query', 'capped', 'select 7 as of_the_box')).code, 0)
  const client = await until('a session', () => connect().catch(() => undefined))
  await client.query('select max(wanted) from generate_series(1, 2000000) wanted')
  // Customers read no statements of others: the extension is the service's.
  await assert.rejects(client.query('create extension pg_stat_statements'), { code: '42501' })
  const queries = await until(
    'the statements',
    async () => {
      const { stdout } = await ergon.cli('db', 'energy', 'capped', '--queries', '--json')
      const found = JSON.parse(stdout) as Queries
      // A server that was killed begins anew, and its first minute may not be charged yet.
      const isWhole = found.energy_j > 0
      return isWhole && found.data.some(({ query }) => query.includes('max(wanted)'))
        ? found
        : undefined
    },
    COMMAND_REST_MS,
  )
  await client.end()
  const { stdout } = await ergon.cli('db', 'energy', 'capped', '--queries')
  assert.match(stdout, /Ergon's own among them/)
  assert.match(stdout, /\(the server at rest between queries\)/)
  assert.ok(
    queries.data.every(({ query }) => !query.includes('2000000')),
    'without constants',
  )
  // lookInside() reads these a second before the statements.
  assert.ok(
    queries.data.every(({ query }) => !/pg_extension|format_type/.test(query)),
    'without those of the service',
  )
  assert.ok(queries.data.some(({ query }) => query.includes('of_the_box')))
  const { other_j: otherJ, rest_j: restJ } = queries
  const parts = queries.data.reduce((sum, one) => sum + one.energy_j, otherJ + restJ)
  assert.ok(Math.abs(parts - queries.energy_j) < 1e-6, String(parts))
  // A charge may be posted between the two readings.
  const energy = await until(
    'the sums of the ledger',
    async () => {
      const { stdout } = await ergon.cli('db', 'energy', 'capped', '--by', 'minute', '--json')
      const read = JSON.parse(stdout) as Sums & { readonly data: readonly Sums[] }
      const [row] = await ergon.sql<{ nj: string; pusd: string }>(
        `select sum(energy_nj)::text as nj, sum(charge_pusd)::text as pusd from charges
       where convert_from(bytes, 'UTF8')::jsonb ->> 'resource' = $1`,
        [`database:${id}`],
      )
      const isEqual = read.energy_nj === row?.nj && read.charge_pusd === row.pusd
      return isEqual ? read : undefined
    },
    COMMAND_REST_MS,
  )
  const sum = energy.data.reduce((all, one) => all + BigInt(one.energy_nj), 0n)
  assert.equal(String(sum), energy.energy_nj)
  assert.match((await ergon.cli('db', 'energy', 'capped')).stdout, /^all +\d/m)
  const bad = await ergon.cli('db', 'energy', 'capped', '--by', 'year')
  assert.match(bad.stderr, /Could not sum by "year"/)
  assert.deepEqual(await bookFaults(ergon), [])
})

type Sums = { readonly energy_nj: string; readonly charge_pusd: string }
