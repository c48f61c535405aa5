// Runs tasks by graphile-worker. One process of a state does so at a time, by an advisory lock. The connection
// that holds the lock also adds the jobs that are due: a process that loses the lock adds none.
import { runMigrations, runTaskList, Logger as WorkerLogger } from 'graphile-worker'
import { sleep } from '#base/clock.ts'
import { invariant, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { ADVISORY_LOCKS, SCHEMA_KEY } from '#state/advisory-locks.ts'
import { openPool, type Queryable, type State, type StateAddress } from '#state/connect.ts'
import { jobsSchema } from './jobs-schema.ts'
import { createJobRuns } from './run-job.ts'
import { releaseJobs, registerTasks, scheduleDue } from './schedule.ts'
import { RUN_MS_MAX, type Tasks } from './task.ts'

/** Jobs that run side by side: a long one (a move between stores) holds up no round. */
const AT_ONCE = 3
/** One listens for new jobs, one fetches and ends jobs. */
const CONNECTIONS = 2
/** A waiting process asks for the lock at this interval; a failed start is repeated as soon. */
const RETRY_MS = 1000
// A new job is announced by NOTIFY, so polling only finds retries whose time has come. Without jobs, this process
// and PostgreSQL took 170 ms of CPU a minute at 2 s, 67 ms at 10 s and 62 ms without polls.
const POLL_MS = 10_000
const STOP_MS = 5000

export interface TaskRunner {
  /** Works until the signal aborts; then jobs that run are aborted, and run again at the next start. */
  run(signal: AbortSignal): Promise<void>
}

/** `state` is where tasks and alarms are kept; `address` leads to the same state. */
export function createTaskRunner(deps: {
  state: State
  address: StateAddress
  tasks: Tasks
  log: Logger
  pollMs?: number
}): TaskRunner {
  const { state, tasks, log } = deps
  for (const [name, { timeoutMs }] of Object.entries(tasks))
    invariant(timeoutMs <= RUN_MS_MAX, `the task ${name} may run for longer than its lock lasts`)
  return {
    async run(signal) {
      while (!signal.aborted) {
        await state
          .session((session) => lead(deps, session, signal))
          .catch((error: unknown) => {
            if (!signal.aborted) log.warn('Tasks do not run', { error: messageOf(error) })
          })
        await sleep(RETRY_MS, signal).catch(() => undefined)
      }
    },
  }
}

type Deps = Parameters<typeof createTaskRunner>[0]

/** Waits for the lock, then works until the signal aborts or the lock's connection is lost. */
async function lead(deps: Deps, session: Queryable, signal: AbortSignal): Promise<void> {
  await takeLock(session, signal)
  const ending = new AbortController()
  const work = AbortSignal.any([signal, ending.signal])
  try {
    await workAs(deps, session, work)
  } finally {
    ending.abort()
    // The connection goes back to the pool and would keep the lock there.
    await session.query('select pg_advisory_unlock_all()')
  }
}

async function workAs(deps: Deps, session: Queryable, signal: AbortSignal): Promise<void> {
  const { state, address, tasks, log } = deps
  const { name: schema, sql } = await jobsSchema(state)
  const pool = openPool({ address, connections: CONNECTIONS, log })
  // A connection that is lost while it is lent out fails what was asked; unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const options = {
    pgPool: pool,
    schema,
    concurrency: AT_ONCE,
    pollInterval: deps.pollMs ?? POLL_MS,
    gracefulShutdownAbortTimeout: STOP_MS,
    noHandleSignals: true,
    // These delays make graphile-worker 0.18 wait for the end of a job. Otherwise a stop closes the connections beneath
    // it, and an end that cannot be stored is an unhandled rejection, which ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: workerLogger(log),
  }
  const stopping = new AbortController()
  try {
    await runMigrations(options).catch(refuseNewer)
    await registerTasks(session, tasks)
    await releaseJobs(session, sql, Object.keys(tasks))
    const runs = createJobRuns({ state, schema: sql, tasks, log, stopping: stopping.signal })
    const workers = runTaskList(options, runs, pool)
    // Rejects when graphile-worker ends by itself, which ends this turn.
    const ended = Promise.resolve(workers.promise).then(() =>
      invariant(signal.aborted, 'the workers ended by themselves'),
    )
    try {
      await Promise.race([schedule(session, sql, Object.keys(tasks), signal), ended])
    } finally {
      stopping.abort()
      await Promise.allSettled([workers.gracefulShutdown(), ended])
    }
  } finally {
    await pool.end()
  }
}

/** Adds jobs as they fall due, until the signal aborts. */
async function schedule(
  session: Queryable,
  schema: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const restMs = await scheduleDue(session, schema, names)
    await sleep(restMs, signal).catch(() => undefined)
  }
}

async function takeLock(session: Queryable, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await session.query<{ held: boolean }>(
      `select pg_try_advisory_lock($1, ${SCHEMA_KEY}) as held`,
      [ADVISORY_LOCKS.tasks],
    )
    if (rows[0]?.held === true) return
    await sleep(RETRY_MS, signal)
  }
}

/** graphile-worker refuses tables of a newer version that changed their meaning. */
function refuseNewer(cause: unknown): never {
  if (!/breaking migration/.test(messageOf(cause))) throw cause
  // graphile-worker asks for the end of the process.
  process.exitCode = 0
  throw fault('state_too_new', 'Could not use the tables of tasks: a newer version wrote them', {
    cause,
  })
}

/** Failures of jobs are logged by us, with the task's name; graphile-worker's own faults are of interest. */
const workerLogger = (log: Logger) =>
  new WorkerLogger(() => (level, message, { failure } = {}) => {
    if (failure === true || level === 'info' || level === 'debug') return
    // Jobs hold no connection while they run.
    if (message.includes('maxPoolSize')) return
    log[level === 'warning' ? 'warn' : 'error'](message)
  })
