import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { sleep } from '#base/clock.ts'
import { cachedInstall, quiet, startTestServer, whyNoServer } from '#postgres/testing.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { connectState, isRefusedByState, serverAnswer, type Queryable } from './connect.ts'

const LIMIT_MS = 30_000
const OPTIONS = { skip: whyNoServer(), timeout: 120_000 }

async function start(t: TestContext) {
  const server = await startTestServer(await cachedInstall())
  t.after(() => server[Symbol.asyncDispose]())
  const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
  const state = connectState({ address, connections: 4, log: quiet })
  t.after(() => state[Symbol.asyncDispose]())
  return { server, state }
}

async function kill(server: Awaited<ReturnType<typeof startTestServer>>): Promise<void> {
  const gone = once(server.child, 'exit')
  server.child.kill('SIGKILL')
  await gone
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const last = performance.now() + LIMIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < last, 'it does not come to hold')
    await sleep(50)
  }
}

test('an error that ends its connection says nothing of what was committed', () => {
  for (const code of ['XX000', '25P03', '23505']) {
    assert.equal(isRefusedByState(new ServerError('refused', code, false)), true)
    assert.equal(isRefusedByState(new ServerError('ended', code, true)), false)
  }
})

test('a page that the disk cannot read leaves the state there, another fault of the disk does not', async () => {
  const page = 'could not read block 3 in file "base/5/16384": Input/output error'
  const codeOf = async (message: string, isFatal: boolean) =>
    await serverAnswer(Promise.reject(new ServerError(message, '58030', isFatal))).catch(
      (error: unknown) => (error as { code?: string }).code,
    )
  assert.equal(await codeOf(page, false), '58030')
  assert.equal(await codeOf(page, true), 'state_unavailable')
  const log = 'could not fsync file "pg_wal/0001": Input/output error'
  assert.equal(await codeOf(log, false), 'state_unavailable')
})

test('the state outlives the death of its server', OPTIONS, async (t) => {
  const { server, state } = await start(t)
  const back = async () => {
    server.restart()
    await server.ready()
  }

  await t.test(
    'a query of the pool that is refused keeps its connection, one that is wrong gets a new one',
    async () => {
      const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
      await using single = connectState({ address, connections: 1, log: quiet })
      const pid = async () =>
        (await single.query('select pg_backend_pid() as pid')).rows[0]?.['pid']
      const first = await pid()
      await assert.rejects(single.query('select 1 / 0'), { code: '22012' })
      assert.equal(await pid(), first)
      await assert.rejects(single.query('select 1 from nowhere'), { code: '42P01' })
      assert.notEqual(await pid(), first)
    },
  )

  await t.test('a transaction whose work passes over an error is not taken for done', async () => {
    await state.query('create table if not exists kept (id int)')
    const passOver = state.transaction(async (transaction) => {
      await transaction.query('insert into kept values (1)')
      await transaction.query('select 1 / 0').catch(() => undefined)
    })
    await assert.rejects(passOver, { name: 'InvariantError' })
    assert.deepEqual((await state.query('select id from kept')).rows, [])
  })

  await t.test('a transaction that its process leaves hanging is ended by the server', async () => {
    const limit = await state.query('show idle_in_transaction_session_timeout')
    assert.deepEqual(limit.rows, [{ idle_in_transaction_session_timeout: '1min' }])
    await state.query('create table if not exists held (id int)')
    await assert.rejects(
      state.transaction(async (transaction) => {
        await transaction.query('set local idle_in_transaction_session_timeout = 50')
        await transaction.query('lock table held')
        await sleep(500)
        // Free again while the transaction still believes that it has the lock.
        await state.query('insert into held values (1)')
        await transaction.query('insert into held values (2)')
      }),
      { code: 'state_unavailable' },
    )
    assert.deepEqual((await state.query('select id from held')).rows, [{ id: 1 }])
  })

  await t.test('a lost connection fails the session that has it, and nothing else', async () => {
    await assert.rejects(
      state.session(async (session) => {
        await session.query('select 1')
        await kill(server)
        // Nothing is asked of it while it breaks: this ended the process once.
        await sleep(200)
        await session.query('select 2')
      }),
    )
    await back()
    const { rows } = await state.query<{ two: number }>('select 2 as two')
    assert.equal(rows[0]?.two, 2)
  })

  await t.test(
    'statements are parsed once, and follow their functions and the server',
    async () => {
      const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
      await using prepared = connectState({ address, connections: 1, log: quiet, prepares: true })
      const define = (answer: string) =>
        state.query(
          `create or replace function answered() returns text language sql as $$ select '${answer}' $$`,
        )
      const ask = async (): Promise<string | undefined> =>
        (await prepared.query<{ answer: string }>('select answered() as answer')).rows[0]?.answer
      await define('one')
      assert.deepEqual([await ask(), await ask()], ['one', 'one'])
      await define('two')
      assert.equal(await ask(), 'two')
      const { rows } = await prepared.query(
        "select 1 from pg_prepared_statements where statement = 'select answered() as answer'",
      )
      assert.equal(rows.length, 1)
      await kill(server)
      await back()
      await eventually(() =>
        ask().then(
          (answer) => answer === 'two',
          () => false,
        ),
      )
    },
  )

  await t.test('query() and transaction() say that the state is away', async () => {
    // A backend answers until it has seen that its server is gone.
    const untilRefused = async (ask: () => Promise<unknown>): Promise<never> => {
      for (;;) await ask()
    }
    const isSaid = { code: 'state_unavailable', status: 503 }
    await kill(server)
    await assert.rejects(
      untilRefused(() => state.query('select 1')),
      isSaid,
    )
    await assert.rejects(
      untilRefused(() => state.transaction((transaction) => transaction.query('select 1'))),
      isSaid,
    )
    await back()
    await assert.rejects(
      state.transaction(async (transaction) => {
        await transaction.query('select 1')
        await kill(server)
        await untilRefused(() => transaction.query('select 2'))
      }),
      isSaid,
    )
    await back()
    const own = new Error('of the work')
    await assert.rejects(
      state.transaction(() => Promise.reject(own)),
      own,
    )
    await assert.rejects(state.query('select 1 / 0'), { code: '22012' })
  })

  await t.test('listen() hears again, on one connection', async () => {
    const heard: string[] = []
    await using _ = await state.listen('news', (payload) => heard.push(payload))
    await kill(server)
    // Several attempts fail meanwhile.
    await sleep(1700)
    await back()
    await eventually(async () => {
      await state.query("select pg_notify('news', 'back')").catch(() => undefined)
      return heard.includes('back')
    })
    assert.equal(heard[0], '', 'it says that something may have been missed')
    // Time for a second connection, were there one.
    await sleep(1000)
    const { rows } = await state.query<{ count: string }>(
      "select count(*) from pg_stat_activity where query = 'listen news'",
    )
    assert.equal(rows[0]?.count, '1')
  })
})

test('a deadlock fails neither a statement nor a transaction', OPTIONS, async (t) => {
  const { state } = await start(t)
  // Each transaction takes a lock, waits until both have a lock, and asks for the other. The retry runs alone.
  await state.query(`
    create sequence begun;
    create function lock_both(first int, second int) returns bigint language plpgsql as $$ begin
      perform pg_advisory_xact_lock(first);
      perform nextval('begun');
      while (select last_value < 2 from begun) loop perform pg_sleep(0.01); end loop;
      perform pg_advisory_xact_lock(second);
      return (select last_value from begun);
    end $$`)
  const lock = async (own: number, other: number, asker: Queryable) =>
    Number((await asker.query<{ n: string }>(`select lock_both(${own}, ${other}) as n`)).rows[0]?.n)
  assert.ok(Math.max(...(await Promise.all([lock(1, 2, state), lock(2, 1, state)]))) === 3)
  await state.query("select setval('begun', 1, false)")
  const whole: Queryable = {
    query: (text) => state.transaction((transaction) => transaction.query(text)),
  }
  assert.ok(Math.max(...(await Promise.all([lock(1, 2, whole), lock(2, 1, whole)]))) === 3)
  await state.query("select setval('begun', 1, false)")
  const once: Queryable = { query: (text) => state.session((session) => session.query(text)) }
  const ends = await Promise.allSettled([lock(1, 2, once), lock(2, 1, once)])
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []))
  assert.deepEqual(failed, ['40P01'], 'a session asks once: it may be within a transaction')
})

test(
  'a state that has been closed says nothing of a server that stops before it has heard so',
  OPTIONS,
  async (t) => {
    const { server } = await start(t)
    const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
    const said: unknown[] = []
    const log = { ...quiet, warn: (...words: unknown[]) => void said.push(words) }
    const state = connectState({ address, connections: 1, log })
    const { rows } = await state.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pid = rows[0]?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    try {
      await state[Symbol.asyncDispose]()
      // The backend finds it beside the goodbye that it has not read, and says 57P01 first.
      process.kill(pid, 'SIGTERM')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await eventually(async () => !existsSync(`/proc/${pid}`))
    await sleep(50)
    assert.deepEqual(said, [])
  },
)
