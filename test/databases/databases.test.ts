// Databases as their owners use them: made with the command line, connected to with a driver, asleep and awake, killed,
// charged, deleted.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type pg from 'pg'
import { DATABASES_MAX, MANUAL_BACKUPS_MAX } from '#contract/databases/databases-max.ts'
import { intervalList, type AwakeInterval } from '#contract/resources/intervals.ts'
import { bookFaults } from '../books.ts'
import { EMBEDDING } from '../settings.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, until, withClient as clientOf } from './driver.ts'

const run = promisify(execFile)
const DIMENSIONS = 1536

let ergon: Ergon
let url: URL
before(async () => {
  ergon = await startErgon({
    models: EMBEDDING,
    env: { ERGON_DB_IDLE_SECONDS: '1', ERGON_STORAGE_MINUTE_S: '2' },
  })
})
after(() => ergon?.stop())

const connect = (given?: Partial<pg.ClientConfig>) => connectTo(url, given)
const withClient = <T>(work: (client: pg.Client) => Promise<T>) => clientOf(url, work)

const idOf = () => `db_${url.username.slice(2)}`
const cellOf = () => idOf().replace('_', '-')
const intervals = async (query = ''): Promise<readonly AwakeInterval[]> => {
  const headers = { authorization: `Bearer ${ergon.token}` }
  const answer = await fetch(`${ergon.baseUrl}/v1/databases/notes/intervals${query}`, { headers })
  return intervalList.parse(await answer.json()).data
}
const isAwake = () => existsSync(join(ergon.runFolder, 'databases', cellOf(), '.s.PGSQL.5432'))

test('db create makes a database, and db url is its connection string', async () => {
  const made = await ergon.cli(
    'db',
    'create',
    'notes',
    '--region',
    'auto',
    '--size',
    '1GB',
    '--json',
  )
  assert.equal(made.code, 0, made.stderr)
  const database = JSON.parse(made.stdout) as { status: string; port: number; size_bytes: number }
  assert.deepEqual([database.status, database.size_bytes], ['deployed', 1_000_000_000])
  assert.deepEqual([ergon.ready['db_host'], ergon.ready['db_port']], ['localhost', database.port])
  url = new URL((await ergon.cli('db', 'url', 'notes')).stdout.trim())
  await backUpNightly(ergon, idOf())
  assert.equal(url.searchParams.get('sslmode'), 'require')
  const { stdout } = await ergon.cli('db', 'list')
  assert.match(stdout, /^notes +deployed +local +1000 +- +-$/m)
  const shown = (await ergon.cli('db', 'show', 'notes')).stdout
  assert.match(shown, /^status +deployed$/m)
  assert.match(shown, /^size +[\d.]+ of 1000 MB$/m)
})

test('a name is taken once, and a bad one is refused', async () => {
  const again = await ergon.cli('db', 'create', 'notes')
  assert.match(again.stderr, /Could not create the database: "notes" exists already/)
  for (const name of ['postgres', 'Notes', '1a', 'a"b', 'db_01m89xar98ey5845tkg6v4pzfn'])
    assert.match((await ergon.cli('db', 'create', name)).stderr, /Could not accept name/, name)
  assert.match((await ergon.cli('db', 'create', 'a', '--size', '1')).stderr, /256MB to 1TB/)
  assert.match(
    (await ergon.cli('db', 'create', 'a', '--region', 'moon')).stderr,
    /no region "moon"/,
  )
  assert.match((await ergon.cli('db', 'show', 'none')).stderr, /Could not find the database/)
})

const api = async (path: string, body?: object, method = 'POST'): Promise<[number, string]> => {
  const answer = await fetch(`${ergon.baseUrl}${path}`, {
    method: body === undefined ? 'GET' : method,
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { error } = (await answer.json()) as { error?: { code: string } }
  return [answer.status, error?.code ?? '']
}

test('the API refuses by code, and another account sees nothing', async () => {
  assert.deepEqual(await api('/v1/databases', { name: 'notes' }), [409, 'database_exists'])
  assert.deepEqual(await api('/v1/databases/none'), [404, 'database_not_found'])
  const { id: account } = await ergon.control('account.create', {})
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const headers = { authorization: `Bearer ${token}` }
  const theirs = await fetch(`${ergon.baseUrl}/v1/databases/notes/url`, { headers })
  assert.equal(theirs.status, 404)
  await ergon.sql(
    `insert into resources (id, kind, account, name, region, desired, actual, created_at, changed_at)
     select 'db_' || n, 'database', $1, 'many-' || n, 'local', 'suspended', 'suspended', now(), now()
     from generate_series(2, $2::int) n`,
    [ergon.account, DATABASES_MAX],
  )
  assert.deepEqual(await api('/v1/databases', { name: 'more' }), [409, 'too_many_databases'])
  await ergon.sql("delete from resources where name like 'many-%'")
  await ergon.sql(
    `insert into database_backups (id, database, kind, status, created_at)
     select 'many_' || n, $1, 'manual', 'failed', now() from generate_series(1, $2::int) n`,
    [idOf(), MANUAL_BACKUPS_MAX],
  )
  const backUp = () => api('/v1/databases/notes/backups', {})
  assert.deepEqual(await backUp(), [409, 'too_many_backups'])
  await ergon.sql("delete from database_backups where id like 'many_%'")
  const change = (body: object) => api('/v1/databases/notes', body, 'PATCH')
  const settle = (actual: string) =>
    ergon.sql("update resources set actual = $1 where name = 'notes'", [actual])
  await settle('pending')
  assert.deepEqual(await change({ suspended: true }), [409, 'database_not_ready'])
  await settle('deployed')
  await ergon.sql('update databases set stored_bytes = 500000000')
  assert.deepEqual(await change({ size: '400MB' }), [400, 'invalid_request'])
  await ergon.sql('update databases set stored_bytes = 0')
})

test('pgvector finds the nearest of 1536 numbers by both kinds of index, with TLS and SCRAM', async () => {
  await withClient(async (client) => {
    await client.query('create extension vector')
    await client.query(`create table items (id int primary key, embedding vector(${DIMENSIONS}))`)
    for (let id = 1; id <= 20; id++) {
      const vector = Array.from({ length: DIMENSIONS }, (_, nth) => (nth % 20 === id ? 1 : 0.01))
      await client.query('insert into items values ($1, $2)', [id, JSON.stringify(vector)])
    }
    const wanted = Array.from({ length: DIMENSIONS }, (_, nth) => (nth % 20 === 7 ? 0.9 : 0))
    for (const index of [
      'ivfflat (embedding vector_l2_ops) with (lists = 1)',
      'hnsw (embedding vector_l2_ops)',
    ]) {
      await client.query(`create index nearest on items using ${index}`)
      await client.query('set enable_seqscan = off')
      const { rows } = await client.query<{ id: number }>(
        'select id from items order by embedding <-> $1 limit 1',
        [JSON.stringify(wanted)],
      )
      assert.equal(rows[0]?.id, 7, index)
      await client.query('drop index nearest')
    }
  })
})

test('the example finds a note by its meaning, with embeddings of the service', async () => {
  await ergon.waitForModel(EMBEDDING)
  const { stdout } = await run(process.execPath, ['examples/database.ts'], {
    timeout: 60_000,
    env: {
      ...process.env,
      ERGON_BASE_URL: ergon.baseUrl,
      ERGON_TOKEN: ergon.token,
      DATABASE_URL: url.href,
    },
  })
  assert.equal(stdout.trim(), 'The cat sleeps on the sofa')
})

test('the owner cannot leave the database: no superuser, no program, no other database', async () => {
  await withClient(async (client) => {
    for (const sql of [
      "copy items to program 'id'",
      "select pg_read_file('/etc/passwd')",
      'create role other',
      'create database other',
      `drop database "${url.pathname.slice(1)}"`,
      'create extension dblink',
      'create extension file_fdw',
      "alter system set fsync = 'off'",
      'set session authorization postgres',
      'set role postgres',
      "create subscription s connection 'host=127.0.0.1' publication p",
      "create function f() returns int language c as 'x'",
      'select * from pg_authid',
      "load 'vector'",
    ])
      await assert.rejects(
        client.query(sql),
        (error: { code?: string }) => {
          assert.match(
            error.code ?? '',
            /^(42501|42704|0LP01|55006|58P01|0A000)$/,
            `${sql}: ${error.code}`,
          )
          return true
        },
        sql,
      )
  })
})

test('stored bytes of a database are charged by the minute', async () => {
  await until('it is charged', async () => {
    const rows = await ergon.sql(
      "select from standing_samples where kind = 'database' and bytes > 0 and due_zj > 0",
    )
    return rows.length > 0
  })
})

test('a read-only role reads what the owner has and makes later, and changes nothing', async (t) => {
  const owner = url
  t.after(() => (url = owner))
  await withClient((client) =>
    client.query(
      'create schema other; create table other.before (id int); create table left_to (id int)',
    ),
  )
  const made = await ergon.cli('db', 'role', 'create', 'notes', 'reporting', '--read-only')
  assert.equal(made.code, 0, made.stderr)
  assert.deepEqual(await api('/v1/databases/notes/roles', { name: 'reporting' }), [
    409,
    'database_role_exists',
  ])
  assert.deepEqual(await api('/v1/databases/notes/url?role=none'), [404, 'database_role_not_found'])
  assert.match((await ergon.cli('db', 'role', 'list', 'notes')).stdout, /^reporting .* reads$/m)
  await withClient((client) => client.query('create table later (id int)'))
  url = new URL((await ergon.cli('db', 'url', 'notes', '--role', 'reporting')).stdout.trim())
  await until('the role is there', () =>
    withClient(async (reader) => {
      await reader.query('select from other.before')
      return true
    }).catch(() => false),
  )
  await withClient(async (reader) => {
    await reader.query('select from items')
    await reader.query('select from later')
    for (const sql of [
      'insert into left_to values (1)',
      'create table mine (id int)',
      'create temporary table mine (id int)',
      'drop table left_to',
      `set role ${owner.username}`,
    ])
      await assert.rejects(reader.query(sql), { code: '42501' }, sql)
  })
  const old = url.password
  assert.equal((await ergon.cli('db', 'role', 'rotate', 'notes', 'reporting')).code, 0)
  await until('the old password is refused', () =>
    connect({ password: old }).then(
      (late) => late.end().then(() => false),
      (error: { code?: string }) => error.code === '28P01',
    ),
  )
  url = new URL((await ergon.cli('db', 'url', 'notes', '--role', 'reporting')).stdout.trim())
  const reader = await connect()
  const ended = new Promise<Error & { code?: string }>((resolve) => reader.on('error', resolve))
  assert.equal((await ergon.cli('db', 'role', 'delete', 'notes', 'owner')).code, 1)
  assert.equal((await ergon.cli('db', 'role', 'delete', 'notes', 'reporting')).code, 0)
  assert.equal((await ended).code, '57P01')
})

test('a suspended database refuses clients with words, and serves them after it is resumed', async () => {
  const client = await connect()
  const ended = new Promise<Error & { code?: string }>((resolve) => client.on('error', resolve))
  assert.equal((await ergon.cli('db', 'suspend', 'notes')).code, 0)
  assert.equal((await ended).code, '57P03')
  // At once, while the server is on its way to its end too.
  for (let nth = 0; nth < 5; nth++)
    await assert.rejects(connect(), {
      code: '57P03',
      message: 'the database is suspended',
      hint: 'Wake it up: ergon db resume notes',
    })
  await until('its server is gone', () => !isAwake())
  assert.equal((await ergon.cli('db', 'resume', 'notes')).code, 0)
  await until('clients are served', () =>
    withClient(async (again) => (await again.query('select 1')).rowCount === 1).catch(() => false),
  )
})

test('acknowledged rows are there after kill -9 of the server', async () => {
  await withClient((client) => client.query('create table kept (id int)'))
  const client = await connect()
  await client.query('insert into kept values (1)')
  await ergon.killCell(cellOf())
  await client.end().catch(() => undefined)
  await until('the server is back', async () => {
    try {
      return await withClient(
        async (again) => (await again.query('select from kept')).rowCount === 1,
      )
    } catch (error) {
      assert.match((error as { code?: string }).code ?? '', /^(57P03|57P01|ECONNRESET)$/)
      return false
    }
  })
})

test('a server without a client stops, the next connection starts it, and each life is charged', async () => {
  await until('it sleeps', () => !isAwake())
  assert.equal(
    await withClient(async (client) => (await client.query('select from kept')).rowCount),
    1,
  )
  await until('it sleeps again', () => !isAwake())
  await until('the interval has its end', async () => {
    const [last] = await intervals()
    return last?.to !== null
  })
  const [last, ...earlier] = await intervals()
  assert.deepEqual([last?.woken_by, last?.role, last?.slept_by], ['connection', 'owner', 'idle'])
  const seen = (woken: string, slept: string) =>
    earlier.some((one) => one.woken_by === woken && one.slept_by === slept)
  // The resume started it, as the creation did.
  assert.ok(seen('change', 'idle') && seen('connection', 'suspended'), JSON.stringify(earlier))
  assert.deepEqual(await intervals('?to=2026-01-01T00:00:00Z'), [])
  assert.equal((await api('/v1/databases/notes/intervals?from=2027-01-01&to=2026-01-01'))[0], 400)
  const shown = (await ergon.cli('db', 'show', 'notes')).stdout
  assert.match(
    shown,
    /^awake +no: asleep since \S+ \(idle\); woken last at \S+ by: connection of owner$/m,
  )
  await until('it is charged', async () => {
    const rows = await ergon.sql<{ energy_nj: string }>(
      `select energy_nj from charges where account = $1 and operation = 'cell.standing'
       and convert_from(bytes, 'UTF8')::json ->> 'resource' = $2`,
      [ergon.account, `database:${idOf()}`],
    )
    return rows.length > 0 && rows.every(({ energy_nj: energy }) => BigInt(energy) > 0n)
  })
})

test('a stop tells the clients, and the next start serves the same database', async () => {
  const client = await connect()
  const ended = new Promise<Error & { code?: string }>((resolve) => client.on('error', resolve))
  const [before] = await intervals()
  assert.equal(before?.to, null)
  await ergon.restart()
  assert.equal((await ended).code, '57P01')
  const rows = await withClient(async (again) => (await again.query('select from kept')).rowCount)
  assert.equal(rows, 1)
  const [now, stopped] = await intervals()
  assert.deepEqual([now?.to, stopped?.from, stopped?.slept_by], [null, before.from, 'stop'])
  assert.ok(Date.parse(stopped?.to ?? '') <= Date.parse(now?.from ?? ''))
})

test('db delete removes the files, and nobody can connect', async () => {
  assert.equal((await ergon.cli('db', 'delete', 'notes')).code, 2)
  assert.equal((await ergon.cli('db', 'delete', 'notes', '--force')).code, 0)
  const folder = join(ergon.dataFolder, 'databases', idOf())
  await until('the files are gone', () => !existsSync(folder))
  await until('the login is gone', async () => {
    const error = await connect().then(
      () => undefined,
      (caught: { code?: string }) => caught,
    )
    return error?.code === '28P01'
  })
  assert.match((await ergon.cli('db', 'list')).stderr, /no databases yet/)
  await until('the rest of its stored bytes is charged', async () => {
    // Its backups are charged until they expire.
    await ergon.sql('select expire_backups(0)')
    const rows = await ergon.sql(
      `select from charges where operation = 'database.standing' and energy_nj > 0
       and convert_from(bytes, 'UTF8')::json ->> 'resource' = $1`,
      [`database:${idOf()}`],
    )
    return rows.length > 0
  })
  assert.deepEqual(await bookFaults(ergon), [])
})
