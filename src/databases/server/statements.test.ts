// Statements of a database beside a real server.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { cachedInstall, quiet, startTestServer, whyNoServer } from '#postgres/testing.ts'
import { connectState } from '#state/connect.ts'
import { COLUMN_TYPES } from '#databases/query/column-types.ts'
import { createStoredReader } from '#databases/size/stored.ts'
import { keepStatements, readStatements, STATEMENT_SETTINGS } from './statements.ts'

const WAIT_MS = 30_000
const COMMENT_BYTES = 5_000_000

test(
  'long texts of queries are bytes of the database until they are read',
  { skip: whyNoServer() },
  async (t) => {
    await using server = await startTestServer(await cachedInstall(), STATEMENT_SETTINGS)
    const connect = () => stateOf(server)
    const { signal } = new AbortController()
    const read = createStoredReader()
    const bytes = async () => (await read(join(server.folder, 'data'), signal)).bytes
    await using state = connect()
    await makeTable(state)
    const before = await bytes()
    await state.query(`select /* ${'x'.repeat(COMMENT_BYTES)} */ 'long'`)
    const more = (await bytes()) - before
    assert.ok(more >= COMMENT_BYTES, `${more} bytes more`)
    const ending = new AbortController()
    t.after(() => ending.abort())
    const database = { id: 'db_1', name: 'postgres' }
    const kept = keepStatements({ database, connect, state, log: quiet }, ending.signal)
    const lastMs = performance.now() + WAIT_MS
    while ((await bytes()) - before > COMMENT_BYTES / 2) {
      assert.ok(performance.now() < lastMs, 'the texts stay')
      await pause(50)
    }
    ending.abort()
    await kept
    assert.ok(((await readStatements(state, database.id))?.other_ms ?? 0) > 0)
  },
)

test(
  "statements of customers are listed, and the service's own in their sessions are not",
  { skip: whyNoServer() },
  async (t) => {
    await using server = await startTestServer(await cachedInstall(), STATEMENT_SETTINGS)
    const connect = () => stateOf(server)
    await using state = connect()
    await makeTable(state)
    await state.query('create extension pg_stat_statements schema public')
    await state.query('create role customer')
    // Statements count for the role that runs them.
    await state.query('set role customer')
    await state.query("select 'theirs'")
    await state.query(COLUMN_TYPES, [[23], [-1]])
    // The text is stored anew with the execution, as it was written.
    await state.query(
      "prepare early as select max(n) from generate_series(1, 9) n where 'secret' <> ''",
    )
    await state.query('reset role')
    await state.query('select public.pg_stat_statements_reset()')
    await state.query('set role customer')
    await state.query('execute early')
    await state.query("select 'theirs'")
    await state.query('reset role')
    const ending = new AbortController()
    t.after(() => ending.abort())
    const database = { id: 'db_1', name: 'postgres' }
    const kept = keepStatements({ database, connect, state, log: quiet }, ending.signal)
    const lastMs = performance.now() + WAIT_MS
    let found: Awaited<ReturnType<typeof readStatements>>
    while ((found = await readStatements(state, database.id)) === undefined) {
      assert.ok(performance.now() < lastMs, 'nothing is read')
      await pause(50)
    }
    ending.abort()
    await kept
    assert.deepEqual(found.statements.map(({ query }) => query).toSorted(), [
      'prepare early as select max(n) from generate_series(?, ?) n where ? <> ?',
      'select $1',
    ])
    assert.ok(found.other_ms > 0)
  },
)

const stateOf = (server: Awaited<ReturnType<typeof startTestServer>>) =>
  connectState({
    address: { host: server.socketFolder, database: 'postgres', ...server.superuser },
    connections: 1,
    log: quiet,
  })

/** The table of the state, in the same server. */
async function makeTable(state: ReturnType<typeof stateOf>): Promise<void> {
  await state.query(`create table database_statements (database text primary key, since timestamptz,
      sampled_at timestamptz, other_ms double precision, statements jsonb)`)
  await state.query(
    'create function ledger_now() returns timestamptz language sql as $$ select now() $$',
  )
}
