// The pipelined connection against a real server, with the driver `pg` as the judge of values.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { after, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { sleep } from '#base/clock.ts'
import {
  cachedInstall,
  quiet,
  startTestServer,
  whyNoServer,
  type TestServer,
} from '#postgres/testing.ts'
import { connectState } from './connect.ts'
import { connectPipeline, type Pipeline } from './pipeline.ts'

const LIMIT_MS = 30_000
const OPTIONS = { skip: whyNoServer(), timeout: 120_000 }
const RUNS = Number(process.env['ERGON_RUNS'] ?? 30)

const startServer = async () => await startTestServer(await cachedInstall(), { fsync: 'off' })
/** The server of all tests but the one that kills its server. */
let shared: Promise<TestServer> | undefined
after(async () => (await shared)?.[Symbol.asyncDispose]())

async function start(t: TestContext, connections = 2, own?: TestServer) {
  const server = own ?? (await (shared ??= startServer()))
  const address = { host: server.socketFolder, database: 'postgres', ...server.superuser }
  const lost: unknown[] = []
  const log = { ...quiet, warn: (...words: unknown[]) => void lost.push(words) }
  const pipeline = connectPipeline({ address, connections, log })
  t.after(() => pipeline[Symbol.asyncDispose]())
  const state = connectState({ address, connections: 4, log: quiet })
  t.after(() => state[Symbol.asyncDispose]())
  return { server, address, pipeline, state, lost }
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const last = performance.now() + LIMIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < last, 'it does not come to hold')
    await sleep(20)
  }
}

const pidOf = async (pipeline: Pipeline) =>
  (await pipeline.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid

const text = fc.string({ unit: 'grapheme', maxLength: 300 }).filter((one) => !one.includes('\0'))
const nullable = <T>(of: fc.Arbitrary<T>) => fc.option(of, { freq: 4 })
const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const int8 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
/** Parameters of every type, with the type's name. */
const VALUES = {
  text: text,
  int: int,
  int8,
  float8: fc.double({ noDefaultInfinity: true, noNaN: true }).map((one) => one + 0),
  bool: fc.boolean(),
  timestamptz: fc.date({ min: new Date(0), max: new Date('9000-01-01'), noInvalidDate: true }),
  bytea: fc.uint8Array({ maxLength: 9000 }).map((bytes) => Buffer.from(bytes)),
  json: fc.json({ maxDepth: 3, noUnicodeString: true }),
  jsonb: fc.json({ maxDepth: 3 }).filter((one) => !one.includes('\\u0000')),
  'text[]': fc.array(nullable(text), { maxLength: 20 }),
  'int[]': fc.array(nullable(int), { maxLength: 20 }),
  'int8[]': fc.array(nullable(int8), { maxLength: 20 }),
} as const satisfies Record<string, fc.Arbitrary<unknown>>
const NAMES = Object.keys(VALUES)
const SELECT = `select ${NAMES.map((name, at) => `$${at + 1}::${name} as "${name}"`).join(', ')}`
const values = fc.tuple(...Object.values(VALUES).map((one) => nullable<unknown>(one)))

test('values are those of the driver, whole and together', OPTIONS, async (t) => {
  const { pipeline, state } = await start(t)
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 20 }), async (list) => {
      const answers = await Promise.all(list.map((one) => pipeline.query(SELECT, one)))
      for (const [at, given] of list.entries()) {
        const { rows, rowCount } = await state.query(SELECT, given)
        assert.deepEqual(answers[at], { rows, rowCount })
      }
    }),
    { numRuns: RUNS },
  )
  await t.test('times of any age, cut to milliseconds', async () => {
    const times = ['0044-03-15 BC', '1492-10-12 00:00:00.123999', '1999-12-31 23:59:59.999999']
    times.push('2284-01-01 00:00:00.001', '2400-01-01 00:00:00.001999', '9999-12-31 23:59:59.999')
    for (const time of [...times, 'infinity', '-infinity']) {
      const ask = `select timestamptz '${time}' as time`
      assert.deepEqual((await pipeline.query(ask)).rows, (await state.query(ask)).rows, time)
    }
  })
  await t.test('answers of megabytes too, which come in many pieces', async () => {
    const ask =
      'select repeat($1, 3000000) as long, n, $2::bytea as bytes from generate_series(1, 5) n'
    const given = ['é', Buffer.alloc(400_000, 7)]
    const { rows, rowCount } = await pipeline.query(ask, given)
    assert.equal(rowCount, 5)
    assert.deepEqual(rows, (await state.query(ask, given)).rows)
  })
  await t.test('rows that a command has changed are counted', async () => {
    await state.query('create table counted (n int)')
    const insert = 'insert into counted select generate_series(1, $1::int)'
    assert.deepEqual(await pipeline.query(insert, [7]), { rows: [], rowCount: 7 })
    assert.equal((await pipeline.query('delete from counted where n > 3')).rowCount, 4)
  })
})

test('each question has its own answer or its own error', OPTIONS, async (t) => {
  const { pipeline } = await start(t)
  const ask = async (n: number) =>
    (await pipeline.query<{ n: number }>('select 12 / $1::int as n', [n])).rows[0]?.n
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 200, size: 'max' }), async (list) => {
      const ends = await Promise.allSettled(list.map(ask))
      for (const [at, n] of list.entries()) {
        const end = ends[at]
        if (n === 0) assert.equal(end?.status === 'rejected' && end.reason.code, '22012')
        else assert.equal(end?.status === 'fulfilled' && end.value, Math.trunc(12 / n))
      }
    }),
    { numRuns: RUNS },
  )
})

test(
  'a pipeline that plans once makes no plan for the values of a statement',
  OPTIONS,
  async (t) => {
    const { address } = await start(t)
    const pipeline = connectPipeline({ address, connections: 1, log: quiet, plansOnce: true })
    t.after(() => pipeline[Symbol.asyncDispose]())
    // Of one name among unknown ones the server expects fewer rows, so it would plan each time.
    const ask = 'select count(*) from pg_class where relname = any ($1::text[])'
    for (let nth = 0; nth < 10; nth++) await pipeline.query(ask, [['pg_class']])
    const { rows } = await pipeline.query(
      `select custom_plans as custom, generic_plans as generic from pg_prepared_statements
      where statement = $1`,
      [ask],
    )
    assert.deepEqual(rows, [{ custom: '0', generic: '10' }])
  },
)

test('an error of the commit is an error of the question', OPTIONS, async (t) => {
  const { pipeline, state } = await start(t, 1)
  await state.query(
    'create table late (n int unique deferrable initially deferred); insert into late values (1)',
  )
  const insert = (n: number) => pipeline.query('insert into late values ($1)', [n])
  const ends = await Promise.allSettled([insert(2), insert(1), insert(3)])
  assert.deepEqual(
    ends.map((end) => (end.status === 'fulfilled' ? 'committed' : end.reason.code)),
    ['committed', '23505', 'committed'],
  )
  assert.equal((await state.query('select from late')).rowCount, 3)
})

test(
  'a query of the pipeline that is refused keeps its connection, one that is wrong gets a new one',
  OPTIONS,
  async (t) => {
    const { pipeline, lost } = await start(t, 1)
    const first = await pidOf(pipeline)
    await assert.rejects(pipeline.query('select 1 / 0'), { code: '22012' })
    await assert.rejects(pipeline.query('select $1::int', ['x']), TypeError)
    await assert.rejects(pipeline.query('select $1::int', []), TypeError)
    assert.equal(await pidOf(pipeline), first)
    await assert.rejects(pipeline.query('select 1 from nowhere'), { code: '42P01' })
    const second = await pidOf(pipeline)
    assert.notEqual(second, first)
    await assert.rejects(pipeline.query('select 1::numeric as n'), TypeError)
    assert.notEqual(await pidOf(pipeline), second)
    await assert.rejects(pipeline.query('begin'), { code: 'state_unavailable' })
    assert.equal((await pipeline.query('select 1 as one')).rows.length, 1)
    assert.equal(lost.length, 1, 'a transaction that stays open is no answer')
  },
)

test(
  'statements are parsed once on a connection, and follow their functions',
  OPTIONS,
  async (t) => {
    const { pipeline, state } = await start(t, 1)
    const define = (type: string, answer: string) =>
      state.query(
        `drop function if exists answered; create function answered() returns ${type} language sql as $$ select ${answer} $$`,
      )
    const ask = async () =>
      (await pipeline.query('select answered() as answer')).rows[0]?.['answer']
    await define('text', "'one'")
    assert.deepEqual([await ask(), await ask()], ['one', 'one'])
    await define('text', "'two'")
    assert.equal(await ask(), 'two')
    const { rows } = await pipeline.query<{ n: number }>(
      "select count(*)::int as n from pg_prepared_statements where statement = 'select answered() as answer'",
    )
    assert.equal(rows[0]?.n, 1)
    // The result of a prepared statement may not change: a new connection has the new one.
    await define('int', '3')
    await assert.rejects(ask(), { code: '0A000' })
    assert.equal(await ask(), 3)
  },
)

test('a deadlock is asked once more', OPTIONS, async (t) => {
  const { pipeline, state } = await start(t, 2)
  await state.query(`
    create sequence begun;
    create function lock_both(first int, second int) returns int language plpgsql as $$ begin
      perform pg_advisory_xact_lock(first);
      perform nextval('begun');
      while (select last_value < 2 from begun) loop perform pg_sleep(0.01); end loop;
      perform pg_advisory_xact_lock(second);
      return (select last_value from begun);
    end $$`)
  const lock = async (...locks: number[]) =>
    (await pipeline.query<{ n: number }>('select lock_both($1, $2) as n', locks)).rows[0]?.n
  assert.equal(Math.max(...(await Promise.all([lock(1, 2), lock(2, 1)])).map(Number)), 3)
})

test('the pipeline outlives the death of its server', OPTIONS, async (t) => {
  const own = await startServer()
  t.after(() => own[Symbol.asyncDispose]())
  const { server, pipeline, state, lost } = await start(t, 2, own)
  const kill = async () => {
    const gone = once(server.child, 'exit')
    server.child.kill('SIGKILL')
    await gone
  }
  const ask = async () => (await pipeline.query('select 2 as two')).rows[0]?.['two']
  assert.equal(await ask(), 2)
  const slow = Promise.allSettled(
    Array.from({ length: 20 }, () => pipeline.query('select pg_sleep(20)')),
  )
  await eventually(async () => {
    const busy = await state.query(
      "select from pg_stat_activity where query like '%pg_sleep(20)%' and state = 'active'",
    )
    return busy.rowCount >= 2
  })
  await kill()
  // A backend notices the death of its server when its work is done.
  const last = performance.now() + LIMIT_MS
  let refused: unknown
  while (refused === undefined && performance.now() < last)
    await ask().catch((error: unknown) => (refused = error))
  assert.equal((refused as { code?: string }).code, 'state_unavailable')
  for (const end of await slow)
    assert.equal(end.status === 'rejected' && end.reason.code, 'state_unavailable')
  server.restart()
  await server.ready()
  await eventually(() =>
    ask().then(
      (answer) => answer === 2,
      () => false,
    ),
  )
  assert.ok(lost.length > 0, 'a lost connection is logged')
})

test('a connection that the server ends while it is idle is replaced', OPTIONS, async (t) => {
  const { pipeline, state, lost } = await start(t, 1)
  const pid = await pidOf(pipeline)
  await state.query('select pg_terminate_backend($1::int, 5000)', [pid])
  await eventually(async () => lost.length === 1)
  assert.match(JSON.stringify(lost), /terminating connection due to administrator command/)
  assert.notEqual(await pidOf(pipeline), pid)
})

test(
  'a server that has no connection left fails nobody who can wait for another',
  OPTIONS,
  async (t) => {
    const { address, state } = await start(t, 1)
    await using few = connectPipeline({ address, connections: 50, log: quiet })
    const most = Number(
      (await state.query("select current_setting('max_connections') as n")).rows[0]?.['n'],
    )
    assert.ok(most <= 50)
    assert.equal((await few.query('select 1 as one')).rowCount, 1)
    const ends = await Promise.allSettled(
      Array.from({ length: 200 }, () => few.query('select pg_sleep(0.01)')),
    )
    assert.deepEqual(
      ends.filter(({ status }) => status === 'rejected'),
      [],
    )
  },
)

test('a closed pipeline has answered what it was asked', OPTIONS, async (t) => {
  const { address, state } = await start(t, 1)
  const pipeline = connectPipeline({ address, connections: 2, log: quiet })
  const answers = Promise.all(
    Array.from({ length: 30 }, () => pipeline.query("select pg_sleep(0.005), 'gone' as gone")),
  )
  await pipeline[Symbol.asyncDispose]()
  assert.equal((await answers).length, 30)
  await assert.rejects(pipeline.query('select 1'), { code: 'state_unavailable' })
  await eventually(async () => {
    const left = await state.query(
      "select from pg_stat_activity where query like '%gone%' and pid <> pg_backend_pid()",
    )
    return left.rowCount === 0
  })
})

test('connections of the pipeline are kept alive, as they stay open', OPTIONS, async (t) => {
  const keepAlive = t.mock.method(Socket.prototype, 'setKeepAlive')
  const { pipeline } = await start(t)
  await pipeline.query('select 1::int as one')
  assert.deepEqual(
    keepAlive.mock.calls.map(({ arguments: words }) => words),
    [[true, 30_000]],
  )
})
