// The operator's view of tasks, and the operator's actions: run a task now, run a dead job again.
import type { ControlAnswer } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { jobsSchema } from './jobs-schema.ts'
import { IS_ALIVE } from './schedule.ts'

type TaskState = ControlAnswer<'task.list'>[number]

export type TaskFigures = Readonly<Record<'runs' | 'failures' | 'deaths' | 'spent_ms', number>> & {
  readonly name: string
}

/** Sums of each task since the state was made. */
export const taskFigures = async (state: Queryable): Promise<TaskFigures[]> =>
  (
    await state.query<TaskFigures>(
      `select name, runs::float8, failures::float8, deaths::float8, spent_ms::float8
       from tasks order by name`,
    )
  ).rows

/** Dead jobs of a task that are shown, the newest. */
const DEAD_SHOWN_MAX = 100

/** All tasks by name; none before the first start of the runner. */
export async function listTasks(state: Queryable): Promise<TaskState[]> {
  const { sql, isMade } = await jobsSchema(state)
  if (!isMade) return []
  const { rows } = await state.query<TaskState>(
    `select task.name, task.every_ms::float8, task.ended_at as last_run,
       least(task.next_at, alive.run_at) as next_run, coalesce(alive.running, false) as running,
       coalesce(alive.attempt, 0) as attempt, task.attempts,
       case when task.done is not null then
         json_build_object('done', task.done, 'total', task.total) end as progress,
       task.runs::float8, task.failures::float8, task.spent_ms::float8, dead.jobs as dead
     from tasks task
     left join ${sql}._private_tasks kind on kind.identifier = task.name
     left join lateral (
       select bool_or(locked_at is not null) as running, max(attempts) as attempt,
         min(run_at) filter (where locked_at is null) as run_at
       from ${sql}._private_jobs job where job.task_id = kind.id and ${IS_ALIVE}) alive on true
     cross join lateral (
       select coalesce(json_agg(json_build_object('id', id::text, 'error', coalesce(last_error, ''),
           'at', updated_at, 'age_s', extract(epoch from now() - updated_at)::int) order by id desc), '[]') as jobs
       from (select * from ${sql}._private_jobs job where job.task_id = kind.id and not ${IS_ALIVE}
         order by id desc limit ${DEAD_SHOWN_MAX}) job) dead
     order by task.name`,
  )
  return rows
}

/** Runs a dead job again, with all its attempts. Throws `not_found` for a job that is not dead. */
export async function retryJob(state: Queryable, id: string): Promise<void> {
  const { sql, isMade } = await jobsSchema(state)
  const { rowCount } = isMade
    ? await state.query(
        `select ${sql}.reschedule_jobs(array[id], now(), attempts := 0) from ${sql}._private_jobs job
         where id = $1 and not ${IS_ALIVE}`,
        // 18 digits are within a bigint.
        [/^\d{1,18}$/.test(id) ? id : null],
      )
    : { rowCount: 0 }
  if (rowCount === 0) throw fault('not_found', `Could not retry the task: no dead task "${id}"`)
}

/** Runs a task now; see startTask(). Throws `not_found` for a name that no task has. */
export async function runTask(state: Queryable, name: string): Promise<{ running: boolean }> {
  const started = await startTask(state, name)
  if (started === undefined) throw fault('not_found', `Could not run the task: no task "${name}"`)
  return started
}

/**
 * Starts a task: a job that waits for a retry becomes due, else a job is added. A task that runs already is
 * left alone. Undefined for a task that no runner has registered.
 */
export async function startTask(
  state: Queryable,
  name: string,
): Promise<{ running: boolean } | undefined> {
  const { sql } = await jobsSchema(state)
  const known = await state.query('select from tasks where name = $1', [name])
  if (known.rowCount === 0) return undefined
  const { rows } = await state.query<{ running: boolean }>(
    `select bool_or(locked_at is not null) as running
     from ${sql}._private_jobs job join ${sql}._private_tasks kind on kind.id = job.task_id
     where kind.identifier = $1 and ${IS_ALIVE} having count(*) > 0`,
    [name],
  )
  if (rows[0]?.running === true) return { running: true }
  await state.query(
    rows.length === 0
      ? `select ${sql}.add_job(name, max_attempts := attempts) from tasks where name = $1`
      : // The NOTIFY of a new job is what wakes the runner.
        `with due as (
           update ${sql}._private_jobs job set run_at = now() from ${sql}._private_tasks kind
           where kind.id = job.task_id and kind.identifier = $1 and ${IS_ALIVE} returning job.id)
         select pg_notify('jobs:insert', '{"count":1}') from due`,
    [name],
  )
  return { running: false }
}
