import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { ADVISORY_LOCKS } from '#state/advisory-locks.ts'
import { connectState, type State } from '#state/connect.ts'
import type { DataFolder } from './data-folder.ts'
import type { Reporter } from '#node/report.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { startState } from './state-cell.ts'

const OPTIONS = { skip: whyNoState(), timeout: 120_000 }
/** A step that no other needs. */
const APPLIED = 'inference/0001_models'
/** More than what a statement, and its answer, have elsewhere. */
const LONGER_MS = 60_000

const { signal } = new AbortController()

/** An empty schema, dropped after the test, and connections to it. */
async function openSchema(t: TestContext) {
  const server = await openTestUrl()
  const schema = `t_${randomUUID().replaceAll('-', '')}`
  const url = server.of(schema)
  const other = connectState({ address: { url }, connections: 2, log: quiet })
  t.after(async () => {
    await other.query(`drop schema ${schema} cascade`)
    await other[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  await other.query(`create schema ${schema}`)
  return { schema, url, other }
}

/** A start on a state of its own, whose migrations wait until `go` is called. */
async function startWaiting(t: TestContext) {
  const { schema, url, other } = await openSchema(t)
  // A state that is not new: one migration was applied.
  await other.query(
    `create table ${schema}.applied_schemas (name text primary key, at timestamptz not null default now())`,
  )
  await other.query(`insert into ${schema}.applied_schemas values ($1)`, [APPLIED])
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const released = other.transaction(async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.schemas])
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const stopping = new AbortController()
  const steps: string[] = []
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const limited = `${url}${encodeURIComponent(' -c statement_timeout=1s')}`
  const starting = start(limited, steps, stopping.signal)
  starting.catch(() => undefined)
  await waitingForLock(other)
  const go = async () => {
    held.resolve()
    await released
  }
  /** Waits longer than the limit that its role has. */
  const outlast = () => other.query('select pg_sleep(1.5)')
  return { starting, steps, stopping, go, outlast }
}

const start = (url: string, steps: string[], signal: AbortSignal) =>
  startState({
    schemas: SCHEMAS,
    config: { databaseUrl: url } as Config,
    data: {
      stateId: undefined,
      rememberState: () => undefined,
      path: '/d',
    } as unknown as DataFolder,
    cells: {} as Cells,
    log: quiet,
    report: { step: (text) => void steps.push(text) } as Reporter,
    signal,
    lost: (error) => assert.fail(String(error)),
  })

async function waitingForLock(state: State): Promise<void> {
  for (;;) {
    const { rowCount } = await state.query(
      "select from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
      [ADVISORY_LOCKS.schemas],
    )
    if (rowCount > 0) return
  }
}

test('migrations take as long as they take, and are told', OPTIONS, async (t) => {
  const { starting, steps, go, outlast } = await startWaiting(t)
  t.mock.timers.tick(LONGER_MS)
  await outlast()
  await go()
  const running = await starting
  await running.close()
  assert.equal(steps[0], 'state is being migrated: state/0001_state')
  assert.match(steps.at(-1) ?? '', /^state migrated: state\/0001_state, .*ledger\/0001_ledger, /)
})

test('a new state is told of in one line', OPTIONS, async (t) => {
  const { url } = await openSchema(t)
  const steps: string[] = []
  const running = await start(url, steps, new AbortController().signal)
  await running.close()
  assert.deepEqual(steps, ['state migrated: a new one'])
})

test('a state of a version before 0.1.0 is refused, and stays as it is', OPTIONS, async (t) => {
  const { schema, url, other } = await openSchema(t)
  await other.query(`create table ${schema}.migrations (name text primary key)`)
  await other.query(`insert into ${schema}.migrations values ('0001_ledger.sql')`)
  await assert.rejects(
    start(url, [], new AbortController().signal),
    (error: unknown) =>
      error instanceof ErgonError &&
      error.code === 'state_too_old' &&
      error.message.includes('new data folder (--data)'),
  )
  const { rows } = await other.query('select tablename from pg_tables where schemaname = $1', [
    schema,
  ])
  assert.deepEqual(rows, [{ tablename: 'migrations' }])
})

test(
  'a schema with objects of another program is refused, and stays as it is',
  OPTIONS,
  async (t) => {
    const FOREIGN: [made: string, says: RegExp][] = [
      [
        'create table wallets (name text)',
        /"wallets" already exists \(ledger\/0001_ledger\)\. Its/,
      ],
      ['create table applied_schemas (version int)', /"name" does not exist \(applied_schemas\)/],
      [
        `create function emit_event(text, text, jsonb) returns int language sql as 'select 1'`,
        /cannot change return type of existing function \(functions of ledger\)/,
      ],
    ]
    for (const [made, says] of FOREIGN) {
      const { schema, url, other } = await openSchema(t)
      await other.query(`set search_path to ${schema}; ${made}`)
      const objects = async () =>
        (
          await other.query(
            `select relname as name from pg_class where relnamespace = $1::regnamespace
           union all select proname from pg_proc where pronamespace = $1::regnamespace order by 1`,
            [schema],
          )
        ).rows
      const before = await objects()
      await assert.rejects(start(url, [], signal), (error: unknown) => {
        assert.ok(error instanceof ErgonError)
        assert.equal(error.code, 'state_foreign')
        assert.match(error.message, /^Could not use this state: .*name an empty database or schema/)
        assert.match(error.message, says)
        return true
      })
      assert.deepEqual(await objects(), before)
    }
  },
)

test('a state that lost a table is refused by the name of the step', OPTIONS, async (t) => {
  const { url, other } = await openSchema(t)
  await (await start(url, [], signal)).close()
  await other.query('drop table wallets cascade')
  await assert.rejects(start(url, [], signal), {
    code: 'state_foreign',
    message: /"wallets" does not exist \(functions of \w+\)/,
  })
})

test('a state of a newer version is refused', OPTIONS, async (t) => {
  const { schema, url, other } = await openSchema(t)
  await (await start(url, [], new AbortController().signal)).close()
  await other.query(`insert into ${schema}.applied_schemas values ('ledger/9999_later')`)
  await assert.rejects(
    start(url, [], new AbortController().signal),
    (error: unknown) => error instanceof ErgonError && error.code === 'state_too_new',
  )
})

test('a stop ends a migration', OPTIONS, async (t) => {
  const { starting, stopping, go } = await startWaiting(t)
  const reason = new Error('stopped')
  stopping.abort(reason)
  await assert.rejects(starting, reason)
  await go()
})

test('a start says which DATABASE_URL it cannot use, and why', OPTIONS, async (t) => {
  await using server = await openTestUrl()
  const url = server.of('public')
  const role = `r_${randomUUID().replaceAll('-', '')}`
  const other = connectState({ address: { url }, connections: 1, log: quiet })
  t.after(() => other[Symbol.asyncDispose]())
  await other.query(`create role ${role} login password 'of-a-test'`)
  // May create tables, and not the schema of tasks.
  await other.query(`create schema ${role} authorization ${role}`)
  const as = (change: (changed: URL) => void) => {
    const changed = new URL(url)
    change(changed)
    return changed.href
  }
  const readOnly = '-c default_transaction_read_only=on'
  const cases: [string, RegExp][] = [
    [as((to) => (to.password = 'wrong-one')), /password authentication failed/],
    [as((to) => (to.pathname = 'nix')), /\/nix\): database "nix" does not exist$/],
    [
      as((to) => Object.assign(to, { username: role, password: 'of-a-test' })),
      /permission denied for schema public \(the role needs the right to create .*\)$/,
    ],
    [
      as((to) => {
        Object.assign(to, { username: role, password: 'of-a-test' })
        to.searchParams.set('options', `-c search_path=${role}`)
      }),
      /permission denied for database \w+ \(the role needs the right to create .*\)$/,
    ],
    [
      as((to) => to.searchParams.set('options', readOnly)),
      /read-only transaction \(a standby, .* written to\)$/,
    ],
    ['postgres://u:wrong-one@localhost:1/none', /\(localhost:1\/none\): connect ECONNREFUSED/],
  ]
  for (const [wrong, why] of cases)
    await assert.rejects(start(wrong, [], signal), (error) => {
      assert.ok(error instanceof ErgonError)
      assert.equal(error.code, 'database_unusable')
      assert.match(error.message, /^Could not use DATABASE_URL \(.+:\d+\/\w+\): /)
      assert.match(error.message, why)
      assert.doesNotMatch(error.message, /wrong-one|of-a-test/)
      return true
    })
  await other.query(`drop schema ${role} cascade`)
  await other.query(`drop role ${role}`)
})

test('a start says which DATABASE_URL does not answer', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const starting = start(`postgres://u:p@127.0.0.1:${port}/d`, [], signal)
  starting.catch(() => undefined)
  await once(silent, 'connection')
  t.mock.timers.tick(LONGER_MS)
  // The pool's clock and that of its connection end at one time: either may be the first to say so.
  const says = `^Could not use DATABASE_URL \\(127\\.0\\.0\\.1:${port}/d\\): .*(timeout expired|connection timeout)$`
  await assert.rejects(starting, { message: new RegExp(says) })
})
