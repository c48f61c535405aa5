// Tasks on a real state: schedule, retries, dead jobs, timeouts, progress, kills and two processes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { connectState, type State } from '#state/connect.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { listTasks, retryJob, runTask } from './admin.ts'
import { JOBS_REVISION, jobsSchema, refuseNewerJobs } from './jobs-schema.ts'
import { createTaskRunner } from './runner.ts'
import type { Task, TaskHelp } from './task.ts'

const options = { skip: whyNoState(), timeout: 60_000 }
const LIMIT_MS = 30_000
const HANGING = fileURLToPath(new URL('./hanging-runner.fixture.ts', import.meta.url))

type Opened = { readonly state: State; readonly url: string; readonly ending: AsyncDisposableStack }

let server: TestUrl
before(async () => {
  if (whyNoState() === false) server = await openTestUrl()
})
after(() => server?.[Symbol.asyncDispose]())

async function open(t: TestContext): Promise<Opened> {
  const ending = new AsyncDisposableStack()
  t.after(() => ending.disposeAsync())
  const opened = await openTestState({ urlOf: server.of, schemas: SCHEMAS, connections: 6 })
  ending.use(opened.state)
  return { ...opened, ending }
}

/** Runs one task named `task` until the returned function is called, which ends with the test at the latest. */
function start(
  { state, url, ending }: Opened,
  task: Partial<Task>,
  write?: (line: string) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  const running = createTaskRunner({
    state,
    address: { url },
    tasks: { task: { attempts: 2, timeoutMs: LIMIT_MS, run: async () => undefined, ...task } },
    log: write === undefined ? quiet : createLogger('test', { write }),
    pollMs: 50,
  }).run(stopping.signal)
  const stop = async () => {
    stopping.abort()
    await running
  }
  ending.defer(stop)
  return stop
}

async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const limit = AbortSignal.timeout(LIMIT_MS)
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await sleep(20, limit)
  }
}

const taskOf = async ({ state }: Opened) =>
  (await listTasks(state)).find(({ name }) => name === 'task')
const deadOf = async (opened: Opened) => (await taskOf(opened))?.dead[0]
/** Backoff is e, e² … seconds: the tests do not wait for it. */
const hurry = async ({ state }: Opened) => {
  const { sql } = await jobsSchema(state)
  await state.query(`update ${sql}._private_jobs set run_at = now() where locked_at is null`)
}

test(
  'a task that fails is retried later and then dead, with its error and an alarm',
  options,
  async (t) => {
    const opened = await open(t)
    let runs = 0
    start(opened, {
      everyMs: LIMIT_MS,
      async run() {
        runs++
        throw new TypeError('the store is away')
      },
    })
    const waiting = await eventually(async () => {
      const task = await taskOf(opened)
      return task?.failures === 1 && !task.running && task
    })
    assert.ok(new Date(waiting.next_run ?? 0) > new Date(waiting.last_run ?? 0), 'a retry waits')
    assert.deepEqual([waiting.attempt, waiting.attempts, waiting.dead], [1, 2, []])
    await hurry(opened)
    const { id, error } = await eventually(() => deadOf(opened))
    assert.deepEqual([error, runs], ['the store is away', 2])
    const alarms = await opened.state.query('select kind, detail from alarms')
    assert.deepEqual(alarms.rows, [{ kind: 'task_dead', detail: { task: 'task', job: id, error } }])
  },
)

test(
  'a dead task runs again when the operator says so, and only a dead one',
  options,
  async (t) => {
    const opened = await open(t)
    let isMended = false
    start(opened, {
      everyMs: LIMIT_MS,
      attempts: 1,
      async run() {
        if (!isMended) throw new TypeError('not yet')
      },
    })
    const { id } = await eventually(() => deadOf(opened))
    for (const wrong of ['0', 'x', String(Number(id) + 1)])
      await assert.rejects(retryJob(opened.state, wrong), { code: 'not_found' })
    isMended = true
    await retryJob(opened.state, id)
    await eventually(async () => (await deadOf(opened)) === undefined)
    const task = await eventually(async () => {
      const found = await taskOf(opened)
      return found?.runs === 2 && found
    })
    assert.equal(task.failures, 1)
    await assert.rejects(retryJob(opened.state, id), { code: 'not_found' })
  },
)

test(
  'only the newest dead job of one task and payload is kept, and one alarm raised',
  options,
  async (t) => {
    const opened = await open(t)
    let runs = 0
    start(opened, {
      attempts: 1,
      async run() {
        throw new TypeError(`failure ${++runs}`)
      },
    })
    await eventually(() => taskOf(opened))
    for (const error of ['failure 1', 'failure 2']) {
      await runTask(opened.state, 'task')
      await eventually(async () => (await deadOf(opened))?.error === error)
    }
    assert.equal((await taskOf(opened))?.dead.length, 1)
    assert.equal((await opened.state.query('select from alarms')).rowCount, 1)
  },
)

test('a run that takes too long is aborted and has failed', options, async (t) => {
  const opened = await open(t)
  start(opened, {
    everyMs: LIMIT_MS,
    attempts: 1,
    timeoutMs: 20,
    run: (_, { signal }) => sleep(LIMIT_MS, signal),
  })
  assert.match((await eventually(() => deadOf(opened))).error, /in time: 20 ms/)
})

test('a run that hears no abort holds up its job no longer than the grace', options, async (t) => {
  const opened = await open(t)
  start(opened, { everyMs: LIMIT_MS, attempts: 1, timeoutMs: 20, run: () => sleep(20_000) })
  assert.match((await eventually(() => deadOf(opened))).error, /in time: 20 ms/)
})

test('progress is stored while a task runs, and kept', options, async (t) => {
  const opened = await open(t)
  const seen = Promise.withResolvers<void>()
  start(opened, {
    everyMs: LIMIT_MS,
    async run(_, { progress }: TaskHelp) {
      progress(3, 10)
      await seen.promise
      progress(10, 10)
    },
  })
  const shown = (done: number, running: boolean) =>
    eventually(async () => {
      const task = await taskOf(opened)
      return task?.progress?.done === done && task.running === running
    })
  await shown(3, true)
  assert.deepEqual(await runTask(opened.state, 'task'), { running: true })
  seen.resolve()
  await shown(10, false)
})

test(
  'a task runs once in a period, also with two processes, and soon after one of them stops',
  options,
  async (t) => {
    const opened = await open(t)
    const periodMs = 300
    const runs: { by: number; atMs: number }[] = []
    const startNth = (by: number) =>
      start(opened, {
        everyMs: periodMs,
        run: async () => void runs.push({ by, atMs: performance.now() }),
      })
    const beganMs = performance.now()
    const stopFirst = startNth(1)
    await eventually(async () => runs.length > 0)
    startNth(2)
    await eventually(async () => runs.length >= 4)
    await stopFirst()
    await eventually(async () => runs.some(({ by }) => by === 2))
    const periods = (performance.now() - beganMs) / periodMs
    assert.ok(runs.length <= Math.ceil(periods) + 1, `${runs.length} runs in ${periods} periods`)
    const handover = runs.findIndex(({ by }) => by === 2)
    assert.ok(runs.slice(handover).every(({ by }) => by === 2))
  },
)

test('a task that is killed with its process runs again in the next one', options, async (t) => {
  const opened = await open(t)
  await opened.state.query('create table begun (pid int)')
  const child = spawn(process.execPath, [HANGING, opened.url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  await eventually(async () => (await opened.state.query('select from begun')).rowCount === 1)
  child.kill('SIGKILL')
  await exited
  const again = Promise.withResolvers<void>()
  const stopping = new AbortController()
  const running = createTaskRunner({
    state: opened.state,
    address: { url: opened.url },
    tasks: {
      hang: {
        everyMs: LIMIT_MS,
        attempts: 3,
        timeoutMs: LIMIT_MS,
        run: async () => again.resolve(),
      },
    },
    log: quiet,
    pollMs: 50,
  }).run(stopping.signal)
  await again.promise
  await eventually(async () => (await listTasks(opened.state))[0]?.runs === 2)
  const [task] = await listTasks(opened.state)
  assert.deepEqual([task?.failures, task?.dead], [1, []])
  stopping.abort()
  await running
})

test(
  'a stop aborts a run, which counts as no attempt and goes on at the next start',
  options,
  async (t) => {
    const opened = await open(t)
    const begun = Promise.withResolvers<void>()
    const stop = start(opened, {
      everyMs: LIMIT_MS,
      attempts: 1,
      async run(_, { signal }) {
        begun.resolve()
        await sleep(LIMIT_MS, signal)
      },
    })
    await begun.promise
    await stop()
    const stopped = await taskOf(opened)
    assert.deepEqual([stopped?.attempt, stopped?.failures, stopped?.dead], [0, 0, []])
    const again = Promise.withResolvers<void>()
    start(opened, { everyMs: LIMIT_MS, attempts: 1, run: async () => again.resolve() })
    await again.promise
  },
)

test('tasks go on when the connections of their process are lost', options, async (t) => {
  const opened = await open(t)
  let runs = 0
  start(opened, { everyMs: 100, run: async () => void runs++ })
  await eventually(async () => runs > 1)
  await using admin = connectState({ address: { url: opened.url }, connections: 1, log: quiet })
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
  const before = runs
  await eventually(async () => runs > before + 1)
})

test(
  'a task whose run is over can be run at once, also before its job is put away',
  options,
  async (t) => {
    const opened = await open(t)
    const { state } = opened
    let runs = 0
    start(opened, { run: async () => void runs++ })
    await eventually(() => taskOf(opened))
    const { sql } = await jobsSchema(state)
    // The deletion by the runner, which comes last.
    await state.query(`create function slow() returns trigger language plpgsql as
    'begin perform pg_sleep(0.5); return old; end'`)
    await state.query(
      `create trigger slow before delete on ${sql}._private_jobs for each row execute function slow()`,
    )
    await runTask(state, 'task')
    await eventually(async () => (await taskOf(opened))?.runs === 1)
    assert.deepEqual(await runTask(state, 'task'), { running: false })
    await eventually(async () => runs === 2)
  },
)

test('a job whose end cannot be stored runs again', options, async (t) => {
  const opened = await open(t)
  const { sql } = await jobsSchema(opened.state)
  const rename = (from: string, to: string) =>
    opened.state.query(`alter table ${sql}.${from} rename to ${to}`)
  let runs = 0
  start(opened, {
    everyMs: LIMIT_MS,
    run: async () => void (++runs === 1 && (await rename('_private_jobs', 'away'))),
  })
  await eventually(async () => runs === 1)
  // The connection of the workers has failed once the table is asked for.
  await sleep(200)
  await rename('away', '_private_jobs')
  await eventually(async () => runs === 2)
})

test('tables that a newer version of graphile-worker made are left alone', options, async (t) => {
  const opened = await open(t)
  const { sql } = await jobsSchema(opened.state)
  await refuseNewerJobs(opened.state)
  const stop = start(opened, {})
  await eventually(() => taskOf(opened))
  await stop()
  const known = await opened.state.query(`select max(id) as id from ${sql}.migrations`)
  assert.deepEqual(known.rows, [{ id: JOBS_REVISION }])
  await refuseNewerJobs(opened.state)
  await opened.state.query(`insert into ${sql}.migrations (id, breaking) values (999999, true)`)
  await assert.rejects(refuseNewerJobs(opened.state), { code: 'state_too_new' })
  const lines: string[] = []
  let runs = 0
  start(opened, { everyMs: 100, run: async () => void runs++ }, (line) => void lines.push(line))
  const line = await eventually(async () => lines.find((each) => each.includes('do not run')))
  assert.match(line, /a newer version wrote them/)
  assert.deepEqual([runs, process.exitCode ?? 0], [0, 0])
})

test('runTask() refuses a name that no task has', options, async (t) => {
  const opened = await open(t)
  await assert.rejects(runTask(opened.state, 'none'), { code: 'not_found' })
  assert.deepEqual(await listTasks(opened.state), [])
})
