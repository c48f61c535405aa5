// One run of one job: its signal, timeout and progress, and the record of its end. graphile-worker calls this
// and deletes the job when it resolves, or keeps the job for a retry when it rejects.
import { raiseAlarm } from '#state/alarms.ts'
import type { JobHelpers, TaskList } from 'graphile-worker'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import type { Task, TaskHelp, Tasks } from './task.ts'

const PROGRESS_MS = 500
/** An aborted run may take this long to end; then its job has failed all the same. */
const GRACE_MS = 3000
/** Dead jobs of a task that are kept, the newest. */
const DEAD_MAX = 1000

type Job = JobHelpers['job']
type Deps = {
  readonly state: Queryable
  /** graphile-worker's, as SQL. */
  readonly schema: string
  readonly log: Logger
  /** The process ends. */
  readonly stopping: AbortSignal
}

/** The tasks in the form that graphile-worker calls. */
export const createJobRuns = ({ tasks, ...deps }: Deps & { tasks: Tasks }): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [
      name,
      (payload: unknown, { job }: JobHelpers) => runJob({ ...deps, name, task }, payload, job),
    ]),
  )

async function runJob(
  deps: Deps & { name: string; task: Task },
  payload: unknown,
  job: Job,
): Promise<void> {
  const { name, task, stopping } = deps
  const startedMs = performance.now()
  const timeout = AbortSignal.timeout(task.timeoutMs)
  const signal = AbortSignal.any([stopping, timeout])
  const progress = createProgress(deps)
  let failure: unknown
  try {
    await within(signal, task.run(payload, { signal, log: deps.log, progress: progress.tell }))
  } catch (error) {
    failure = timeout.aborted && !stopping.aborted ? timedOut(task) : error
  } finally {
    await progress.end()
  }
  // A run that was ended by the stop of its process is no attempt.
  if (failure !== undefined && stopping.aborted) {
    await giveBack(deps, job)
    throw failure
  }
  const isDead = failure !== undefined && job.attempts >= job.max_attempts
  await record(deps, job, {
    tookMs: performance.now() - startedMs,
    failed: failure !== undefined,
    isDead,
  })
  if (failure === undefined) return
  deps.log.warn('A task failed', {
    task: name,
    job: job.id,
    attempt: job.attempts,
    attempts: job.max_attempts,
    error: failure,
  })
  if (isDead) await bury(deps, job, messageOf(failure))
  throw failure
}

/** Settles with the run; rejects when the run does not end soon after its signal was aborted. */
async function within(signal: AbortSignal, run: Promise<void>): Promise<void> {
  const ended = new AbortController()
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener(
      'abort',
      () =>
        void sleep(GRACE_MS, ended.signal).then(
          () => reject(signal.reason),
          () => undefined,
        ),
      { once: true },
    )
  })
  try {
    await Promise.race([run, late])
  } finally {
    ended.abort()
  }
}

const timedOut = ({ timeoutMs }: Task) =>
  fault('deadline_exceeded', `Could not end the task in time: ${timeoutMs} ms`)

/** Writes the newest progress, at most one write in PROGRESS_MS; the last one when the run ends. */
function createProgress({ state, name }: { state: Queryable; name: string }) {
  let newest: readonly [number, number] | undefined
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  const write = () => {
    timer = undefined
    if (newest === undefined) return
    const [done, total] = newest
    newest = undefined
    // Lost when the state is away: the next progress says more.
    writing = state
      .query('update tasks set done = $2, total = $3 where name = $1', [name, done, total])
      .catch(() => undefined)
  }
  return {
    tell(done: number, total: number) {
      newest = [done, total]
      timer ??= setTimeout(write, PROGRESS_MS)
    },
    async end() {
      clearTimeout(timer)
      write()
      await writing
    },
  } satisfies { tell: TaskHelp['progress']; end(): Promise<void> }
}

/**
 * A job that has succeeded ends with its record. The deletion by graphile-worker comes later, and until then the task would
 * seem to run: a run that is asked for meanwhile would not begin.
 */
const record = (
  { state, schema, name }: { state: Queryable; schema: string; name: string },
  { id }: Job,
  { tookMs, failed, isDead }: { tookMs: number; failed: boolean; isDead: boolean },
) =>
  state.query(
    `with ended as (delete from ${schema}._private_jobs where id = $5 and not $2::boolean)
     update tasks set ended_at = clock_timestamp(), runs = runs + 1, failures = failures + $2::boolean::int,
       deaths = deaths + $3::int, spent_ms = spent_ms + $4::bigint where name = $1`,
    [name, failed, Number(isDead), Math.round(tookMs), id],
  )

/** The job runs again at the next start, as if it had not begun. */
const giveBack = ({ state, schema }: Deps, { id }: Job) =>
  state.query(
    `update ${schema}._private_jobs set locked_at = null, locked_by = null, attempts = attempts - 1
     where id = $1 and attempts > 0`,
    [id],
  )

/**
 * The job stays in the list of dead jobs, and the operator gets an alarm. A dead job of the same task and
 * payload is forgotten: the newest error is the one to mend.
 */
async function bury(
  { state, schema, name }: Deps & { name: string },
  { id }: Job,
  error: string,
): Promise<void> {
  await state.query(
    `delete from ${schema}._private_jobs where id in (
       select job.id from ${schema}._private_jobs job join ${schema}._private_jobs newest on newest.id = $1
       where job.task_id = newest.task_id and job.id <> newest.id
         and job.attempts >= job.max_attempts and job.locked_at is null
         and (job.payload::text = newest.payload::text or job.id < (
           select id from ${schema}._private_jobs dead where dead.task_id = newest.task_id
             and dead.attempts >= dead.max_attempts order by id desc offset ${DEAD_MAX} limit 1)))`,
    [id],
  )
  await raiseAlarm(state, 'task_dead', { task: name, job: id, error }, { key: name })
}
