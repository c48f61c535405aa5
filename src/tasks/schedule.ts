// When tasks run: the table of tasks says when each is due next, so no restart forgets or doubles a run.
import type { Queryable } from '#state/connect.ts'
import type { Tasks } from './task.ts'

/** A new task begins this long after the task before: side by side, rounds would open a connection each. */
const APART_MS = 200
/** The schedule is read this often at least: the operator may have made a task due. */
const REST_MS_MAX = 60_000

/** Adds tasks that are new and changes periods. A task's next run comes no later than its period from now. */
export async function registerTasks(session: Queryable, tasks: Tasks): Promise<void> {
  const given = Object.entries(tasks)
  await session.query(
    `insert into tasks (name, every_ms, attempts, next_at)
     select name, every_ms, attempts, case when every_ms is not null
       then now() + nth * ${APART_MS} * interval '1 millisecond' end
     from unnest($1::text[], $2::bigint[], $3::smallint[]) with ordinality as given (name, every_ms, attempts, nth)
     on conflict (name) do update set every_ms = excluded.every_ms, attempts = excluded.attempts,
       next_at = case when excluded.every_ms is not null
         then least(tasks.next_at, now() + excluded.every_ms * interval '1 millisecond') end`,
    [
      given.map(([name]) => name),
      given.map(([, { everyMs }]) => everyMs ?? null),
      given.map(([, { attempts }]) => attempts),
    ],
  )
}

/**
 * Gives out again the jobs of a process that was killed: the caller holds the lock, so no other process runs
 * any. The attempt counts, and a job at its last attempt is dead: a job that kills its process would else kill
 * the next one for ever.
 */
export async function releaseJobs(
  session: Queryable,
  schema: string,
  names: readonly string[],
): Promise<void> {
  await session.query(
    `with released as (
       update ${schema}._private_jobs job
       set locked_at = null, locked_by = null, last_error = 'The process that ran the task ended'
       from ${schema}._private_tasks kind
       where kind.id = job.task_id and kind.identifier = any ($1) and job.locked_at is not null
       returning kind.identifier as name, job.id, job.last_error, job.attempts >= job.max_attempts as is_dead),
     counted as (
       update tasks set runs = runs + 1, failures = failures + 1, deaths = deaths + is_dead::int
       from released where tasks.name = released.name)
     select raise_alarm('task_dead', jsonb_build_object('task', name, 'job', id::text, 'error', last_error), name)
     from released where is_dead`,
    [names],
  )
}

/** True of a job that will still run: it waits for its time or for a retry, or it runs. */
export const IS_ALIVE = '(job.locked_at is not null or job.attempts < job.max_attempts)'

/**
 * Adds a job of each task that is due, unless the task has a job that is alive. Resolves with the
 * milliseconds until the next task is due.
 */
export async function scheduleDue(
  session: Queryable,
  schema: string,
  names: readonly string[],
): Promise<number> {
  await session.query(
    `with due as (
       update tasks set next_at = now() + every_ms * interval '1 millisecond'
       where name = any ($1) and next_at <= now() returning name, attempts)
     select ${schema}.add_job(name, max_attempts := attempts) from due
     where not exists (
       select from ${schema}._private_jobs job join ${schema}._private_tasks kind on kind.id = job.task_id
       where kind.identifier = due.name and ${IS_ALIVE})`,
    [names],
  )
  const { rows } = await session.query<{ rest_ms: number | null }>(
    `select ceil(extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as rest_ms
     from tasks where name = any ($1)`,
    [names],
  )
  return Math.min(Math.max(rows[0]?.rest_ms ?? REST_MS_MAX, 0), REST_MS_MAX)
}
