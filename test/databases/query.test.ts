// The query box: POST /v1/databases/{database}/query. It reads with the rights of a role that owns nothing, within
// limits, and nothing that is sent to it changes the database.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { QUERY_MS_MAX } from '#contract/databases/databases.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase, until, withClient } from './driver.ts'

product(PLAIN)

const NAME = 'asked'
let owner: URL
before(async () => {
  owner = await makeDatabase(sharedErgon(), NAME)
  await withClient(owner, (client) =>
    client.query(`
      create table notes (id int primary key, body text);
      insert into notes select n, 'note ' || n from generate_series(1, 2000) n;
      create type mood as enum ('glad');
      create sequence counted;
      create function write_one() returns int volatile security definer language sql
        as $$ insert into notes values (-1, 'written') returning id $$;
      create procedure write_and_commit() language plpgsql as $$
        begin insert into notes values (-2, 'committed'); commit; end $$`),
  )
})

type Answer = {
  readonly status: number
  readonly columns?: readonly { readonly name: string; readonly type: string }[]
  readonly rows?: readonly (readonly (string | null)[])[]
  readonly row_count?: number
  readonly cut?: boolean
  readonly command?: string
  readonly duration_ms?: number
  readonly server_j?: number
  readonly basis?: string
  readonly code?: string
  readonly detail?: string
  readonly sqlstate?: string
  readonly position?: number
}

async function ask(sql: string, more: object = {}, signal?: AbortSignal): Promise<Answer> {
  const { baseUrl, token } = sharedErgon()
  const answer = await fetch(`${baseUrl}/v1/databases/${NAME}/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sql, ...more }),
    ...(signal !== undefined && { signal }),
  })
  const body = (await answer.json()) as Answer & { readonly error?: { readonly code: string } }
  return { ...body, status: answer.status, ...(body.error && { code: body.error.code }) }
}

test('database.query answers with columns, types, rows, time and joules, and database-query.ceiling with the most before', async () => {
  const answer = await ask(
    "select id, body, null::numeric(9,2) as x, 'glad'::mood from notes order by id limit 2",
  )
  assert.equal(answer.status, 200, JSON.stringify(answer))
  assert.deepEqual(answer.columns, [
    { name: 'id', type: 'integer' },
    { name: 'body', type: 'text' },
    { name: 'x', type: 'numeric(9,2)' },
    { name: 'mood', type: 'mood' },
  ])
  assert.deepEqual(answer.rows, [
    ['1', 'note 1', null, 'glad'],
    ['2', 'note 2', null, 'glad'],
  ])
  assert.deepEqual([answer.command, answer.row_count, answer.cut], ['SELECT', 2, false])
  assert.ok((answer.duration_ms ?? 0) > 0 && (answer.server_j ?? 0) > 0)
  const asleep = await ask('select pg_sleep(0.5)')
  assert.match(asleep.basis ?? '', /^an upper bound/, 'a query that waits uses less')
  const { baseUrl, token } = sharedErgon()
  const told = await fetch(`${baseUrl}/v1/databases/${NAME}/query/ceiling`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const ceiling = (await told.json()) as { ceiling_j: number; server_j: number }
  assert.ok(ceiling.ceiling_j > 0)
  assert.ok(ceiling.server_j > (answer.server_j ?? 0), JSON.stringify(ceiling))
})

test('rows and bytes have limits, and an answer says that it is cut', async () => {
  const rows = await ask('select id from notes order by id', { max_rows: 75 })
  assert.deepEqual([rows.row_count, rows.cut, rows.rows?.at(-1)], [75, true, ['75']])
  const all = await ask('select id from notes where id <= 100')
  assert.deepEqual([all.row_count, all.cut], [100, false])
  const bytes = await ask("select repeat('x', 100000) from generate_series(1, 100)")
  assert.deepEqual([bytes.row_count, bytes.cut], [10, true], JSON.stringify(bytes).slice(0, 500))
  const ten = await ask("select repeat('x', 10000000)")
  assert.deepEqual([ten.status, ten.code], [400, 'database_result_too_large'])
})

test('a statement that fails says why, with its SQLSTATE and the place', async () => {
  const wrong = await ask('select nothing from notes')
  assert.deepEqual(
    [wrong.status, wrong.code, wrong.sqlstate, wrong.position],
    [400, 'database_query_failed', '42703', 8],
  )
  assert.match(wrong.detail ?? '', /column "nothing" does not exist/)
})

/** Statements that would change something, leave the limits, or reach beyond the database. */
const ATTACKS: readonly (readonly [sql: string, sqlstate: string | undefined])[] = [
  ['select 1; delete from notes', '42601'],
  ['commit; delete from notes', '42601'],
  ['delete from notes', '25006'],
  ['create table more (id int)', '25006'],
  ['create temporary table more (id int)', undefined],
  ['with gone as (delete from notes returning 1) select * from gone', '25006'],
  ['select write_one()', '25006'],
  ['call write_and_commit()', '25006'],
  ["select nextval('counted')", '42501'],
  [
    "do $$ begin perform 1; set transaction read write; insert into notes values (-3, ''); end $$",
    '25001',
  ],
  ["do $$ begin set transaction read write; insert into notes values (-3, ''); end $$", '25001'],
  [
    'do $$ begin set default_transaction_read_only = off; commit; perform write_one(); end $$',
    '2D000',
  ],
  ["select set_config('transaction_read_only', 'off', true), write_one()", '25001'],
  ['explain analyze delete from notes', '25006'],
  ['set role postgres', '42501'],
  ['set session authorization postgres', '42501'],
  ["copy notes to program 'id'", '42501'],
  ["copy notes from '/etc/passwd'", undefined],
  ["select pg_read_file('/etc/passwd')", '42501'],
  ["select pg_ls_dir('/')", '42501'],
  ["select lo_import('/etc/passwd')", undefined],
  ["select dblink('host=127.0.0.1', 'delete from notes')", '42883'],
  ['create extension dblink', undefined],
  [
    "select pg_terminate_backend(pid) from pg_stat_activity where usename not like '%_query'",
    '42501',
  ],
  ['prepare transaction $$kept$$', undefined],
  ['lock table notes in access exclusive mode', undefined],
  ['select * from notes for update', undefined],
  ['select pg_sleep(1), rolpassword from pg_authid', '42501'],
]

test('no statement changes the database, reads files, or leaves its role and its transaction', async () => {
  const counted = () =>
    withClient(owner, async (client) => {
      const { rows } = await client.query<{ state: string }>(
        `select (select count(*) from notes) || ' ' || (select is_called from counted) || ' ' ||
           (select count(*) from pg_class where relname = 'more') as state`,
      )
      return rows[0]?.state
    })
  // A session that a query may not end.
  await withClient(owner, async () => {
    for (const [sql, sqlstate] of ATTACKS) {
      const { status, code, sqlstate: got, detail } = await ask(sql)
      const refused = got === '25006' ? 'database_query_read_only' : 'database_query_failed'
      assert.deepEqual([status, code], [400, refused], `${sql}: ${detail}`)
      if (sqlstate !== undefined) assert.equal(got, sqlstate, `${sql}: ${detail}`)
    }
  })
  for (const sql of [
    'commit',
    'rollback',
    'listen x',
    "notify x, 'y'",
    'select pg_advisory_lock(7)',
    "select set_config('search_path', 'nowhere', false)",
  ])
    assert.equal((await ask(sql)).status, 200, sql)
  assert.equal(
    (await ask('select count(*) from notes')).rows?.[0]?.[0],
    '2000',
    'nothing stays of them',
  )
  assert.equal(await counted(), '2000 false 0')
  await withClient(owner, async (client) => {
    const { rows } = await client.query('select from pg_locks where locktype = $1', ['advisory'])
    assert.equal(rows.length, 0)
  })
})

test('a query ends with its client, and at its time limit in any case', async () => {
  const leaving = new AbortController()
  const left = ask('select pg_sleep(600)', {}, leaving.signal).catch((error: Error) => error.name)
  // Its role sees its own sessions.
  const running = async () =>
    (
      await ask(
        "select count(*) from pg_stat_activity where query ~ '^select pg_sleep' and state = 'active'",
      )
    ).rows?.[0]?.[0]
  await until('it runs', async () => (await running()) === '1')
  leaving.abort()
  assert.equal(await left, 'AbortError')
  await until('it has ended', async () => (await running()) === '0')
  const began = performance.now()
  const endless = await ask('select pg_sleep(600)')
  assert.deepEqual([endless.status, endless.sqlstate], [400, '57014'])
  assert.ok(performance.now() - began >= QUERY_MS_MAX - 100)
})

test('a statement that changes its session ends as any other, and an account has four at once', async () => {
  await withClient(owner, (client) =>
    client.query(`create schema evil;
      create function evil.format_type(oid, int) returns text language sql
        as $$ select pg_sleep(60)::text $$;
      create function evil.unnest(oid[], int[]) returns table (id oid, modifier int) language sql
        as $$ select 23::oid, pg_sleep(60)::text::int $$;
      grant usage on schema evil to public`),
  )
  const evil = `select set_config('statement_timeout', '0', false),
    set_config('search_path', 'evil, pg_catalog', false)`
  const beganMs = performance.now()
  assert.equal((await ask(evil)).status, 200)
  assert.ok(performance.now() - beganMs < 30_000)
  const many = await Promise.all(Array.from({ length: 6 }, () => ask('select pg_sleep(3)')))
  const codes = many.map(({ status }) => status).toSorted()
  assert.deepEqual(codes, [200, 200, 200, 200, 429, 429])
})

test('another account and a token that only reads are refused, and the audit log has the queries without their text', async () => {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', {})
  const other = await ergon.control('token.create', { account, scope: 'deploy' })
  const reading = await ergon.control('token.create', { account: ergon.account, scope: 'read' })
  const statusOf = async ({ token }: { token: string }) =>
    (
      await fetch(`${ergon.baseUrl}/v1/databases/${NAME}/query`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ sql: 'select 1' }),
      })
    ).status
  assert.deepEqual([await statusOf(other), await statusOf(reading)], [404, 403])
  const [{ entries, texts } = { entries: 0, texts: 0 }] = await ergon.sql<{
    entries: number
    texts: number
  }>(
    `select count(*)::int as entries, count(*) filter (where details <> '{}')::int as texts
     from audit_entries where action = 'database.query' and account = $1`,
    [ergon.account],
  )
  assert.ok(entries > 10)
  assert.equal(texts, 0)
})

test('ergon db query prints a table, JSON or CSV', async () => {
  const ergon = sharedErgon()
  const sql = `select id, 'a "b",' || id as text from notes order by id limit 1`
  const shown = await ergon.cli('db', 'query', NAME, sql)
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stdout, /^id +text\n1 +a "b",1\n$/)
  assert.match(
    shown.stderr,
    /^1 row, [\d.]+ ms, [\d.]+ J and at most [\d.]+ J of the server while it ran$/m,
  )
  const csv = await ergon.cli('db', 'query', NAME, sql, '--csv')
  assert.equal(csv.stdout, 'id,text\n1,"a ""b"",1"\n')
  const json = await ergon.cli(
    'db',
    'query',
    NAME,
    'select id from notes',
    '--max-rows',
    '3',
    '--json',
  )
  const { cut, row_count: rows } = JSON.parse(json.stdout) as { cut: boolean; row_count: number }
  assert.deepEqual([cut, rows], [true, 3])
  const wrong = await ergon.cli('db', 'query', NAME, 'select x')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /column "x" does not exist/)
})

const BURNS = 'select count(*) from generate_series(1, 1000000000)'

test('a used-up budget is no fault of the statement: 429 budget_exhausted', async () => {
  const ergon = sharedErgon()
  assert.equal((await ergon.cli('db', 'budget', NAME, '10 J/day')).code, 0)
  try {
    let refused: Answer = { status: 0 }
    await until('it is used up', async () => {
      refused = await ask(BURNS)
      return refused.sqlstate === '53400'
    })
    assert.deepEqual([refused.status, refused.code], [429, 'budget_exhausted'], refused.detail)
  } finally {
    assert.equal((await ergon.cli('db', 'budget', NAME, 'none')).code, 0)
  }
})

test('a suspended database is not woken, and says so; the books are right', async () => {
  const ergon = sharedErgon()
  assert.equal((await ergon.cli('db', 'suspend', NAME)).code, 0)
  const refused = await ask('select 1')
  assert.deepEqual([refused.status, refused.code], [409, 'database_suspended'])
  assert.equal((await ergon.cli('db', 'resume', NAME)).code, 0)
  assert.deepEqual((await ask('select 1 as one')).rows, [['1']])
  assert.deepEqual(await bookFaults(ergon), [])
})
