// A history of tasks on a real queue, and what is wrong with it: jobs that are lost, run twice at once, retried too
// soon, or not kept when they are dead. A fault can be planted in the queue, in SQL.
import { sleep } from '#base/clock.ts'
import { quiet } from '#postgres/testing.ts'
import type { State } from '#state/connect.ts'
import { listTasks, runTask } from './admin.ts'
import { jobsSchema } from './jobs-schema.ts'
import { createTaskRunner } from './runner.ts'
import type { Tasks } from './task.ts'

/** A trigger on each job of the queue that meets the condition. */
type Planted = { readonly on: string; readonly condition: string; readonly body: string }

const isUnlocked = 'old.locked_at is not null and new.locked_at is null'

/** The plants by their faults. A job is unlocked when its run has failed, and deleted when its run has not. */
export const PLANTED = {
  'a job is lost': {
    on: 'before insert',
    condition: 'new.max_attempts = 1',
    body: 'return null;',
  },
  'a job is given out twice': {
    on: 'before update',
    condition: 'new.locked_at is not null',
    body: 'new.locked_at := null; return new;',
  },
  'a dead job is dropped': {
    on: 'after update',
    condition: `${isUnlocked} and new.attempts >= new.max_attempts`,
    body: `execute format('delete from %I.%I where id = $1', tg_table_schema, tg_table_name) using new.id;
      return null;`,
  },
  'a retry does not wait': {
    on: 'before update',
    condition: isUnlocked,
    body: 'new.run_at := now(); return new;',
  },
} as const satisfies Record<string, Planted>
export type PlantedFault = keyof typeof PLANTED

const LIMIT_MS = 30_000
const PERIOD_MS = 100
/** Longer than a period: a second job of the task would run beside the first. */
const RUN_MS = 150
const PERIODIC_RUNS = 6
/** graphile-worker: e seconds before the second attempt. */
const RETRY_MS_MIN = 2700
/** A job that is asked for by hand runs within this time. */
const BY_HAND_MS_MAX = 5000

type Run = { readonly task: string; readonly beganMs: number; endedMs: number }

/** Plays the history, with the fault if there is one; resolves to what is wrong, in words. */
export async function playHistory(
  { state, url }: { readonly state: State; readonly url: string },
  planted?: PlantedFault,
): Promise<string[]> {
  // The first life makes the queue's tables.
  await live({ state, url, tasks: {} }, () => until(() => isMade(state), LIMIT_MS))
  if (planted !== undefined) await plant(state, PLANTED[planted])
  const runs: Run[] = []
  await live({ state, url, tasks: tasksThatNote(runs) }, async () => {
    await until(async () => (await listTasks(state)).length === TASKS, LIMIT_MS)
    for (const name of ['by-hand', 'failing']) await runTask(state, name)
    const ended = (task: string, count: number) => async () =>
      runs.filter((run) => run.task === task && run.endedMs < Infinity).length >= count
    await until(ended('periodic', PERIODIC_RUNS), LIMIT_MS)
    await until(ended('by-hand', 1), BY_HAND_MS_MAX)
    await until(ended('failing', ATTEMPTS), LIMIT_MS)
    // The end of a run is stored after the run.
    await until(async () => (await failuresOf(state)) >= ATTEMPTS, BY_HAND_MS_MAX)
  })
  return [...wrongRuns(runs), ...(await wrongEnd(state))]
}

const TASKS = 3
const ATTEMPTS = 2

/** Three tasks: by period, by hand, and one that always fails. */
function tasksThatNote(runs: Run[]): Tasks {
  const noted =
    (task: string, work: () => Promise<void>): Tasks[string]['run'] =>
    async () => {
      const run: Run = { task, beganMs: performance.now(), endedMs: Infinity }
      runs.push(run)
      await work().finally(() => (run.endedMs = performance.now()))
    }
  const limits = { attempts: ATTEMPTS, timeoutMs: LIMIT_MS }
  const fail = () => Promise.reject(new TypeError('always'))
  return {
    periodic: { ...limits, everyMs: PERIOD_MS, run: noted('periodic', () => sleep(RUN_MS)) },
    'by-hand': { ...limits, attempts: 1, run: noted('by-hand', async () => undefined) },
    failing: { ...limits, run: noted('failing', fail) },
  }
}

/** Runs the tasks while `work` goes on. */
async function live(
  given: { state: State; url: string; tasks: Tasks },
  work: () => Promise<void>,
): Promise<void> {
  const { state, url, tasks } = given
  const stopping = new AbortController()
  const runner = createTaskRunner({ state, address: { url }, tasks, log: quiet, pollMs: 50 })
  const running = runner.run(stopping.signal)
  try {
    await work()
  } finally {
    stopping.abort()
    await running
  }
}

/** Waits until it holds, for so long at most: what then is not so is found by the checks. */
async function until(holds: () => Promise<boolean>, limitMs: number): Promise<void> {
  for (const last = performance.now() + limitMs; performance.now() < last; await sleep(20))
    if (await holds()) return
}

async function isMade(state: State): Promise<boolean> {
  const { name } = await jobsSchema(state)
  const { rows } = await state.query<{ made: boolean }>(
    `select to_regclass($1) is not null as made`,
    [`${name}._private_jobs`],
  )
  return rows[0]?.made === true
}

async function plant(state: State, { on, condition, body }: Planted): Promise<void> {
  const { sql } = await jobsSchema(state)
  await state.query(
    `create function ${sql}.planted() returns trigger language plpgsql as $$ begin ${body} end $$`,
  )
  await state.query(
    `create trigger planted ${on} on ${sql}._private_jobs for each row
     when (${condition}) execute function ${sql}.planted()`,
  )
}

const failuresOf = async (state: State): Promise<number> =>
  (await listTasks(state)).find(({ name }) => name === 'failing')?.failures ?? 0

function wrongRuns(runs: readonly Run[]): string[] {
  const of = (task: string) => runs.filter((run) => run.task === task)
  const wrong: string[] = []
  if (of('by-hand').length !== 1) wrong.push(`a job by hand ran ${of('by-hand').length} times`)
  if (of('periodic').length < PERIODIC_RUNS) wrong.push('a task by period does not run')
  for (const [nth, run] of of('periodic').entries())
    if (run.beganMs < (of('periodic')[nth - 1]?.endedMs ?? 0))
      wrong.push('a task ran beside itself')
  const [first, second, ...more] = of('failing')
  if (second === undefined) wrong.push('a job that failed was not retried')
  else if (second.beganMs - (first?.endedMs ?? 0) < RETRY_MS_MIN)
    wrong.push('a retry came too soon')
  if (more.length > 0) wrong.push('a dead job ran again')
  return wrong
}

async function wrongEnd(state: State): Promise<string[]> {
  const failing = (await listTasks(state)).find(({ name }) => name === 'failing')
  const wrong: string[] = []
  if (failing?.dead[0]?.error !== 'always') wrong.push('a dead job is not kept with its error')
  const alarms = await state.query("select from alarms where kind = 'task_dead'")
  if (alarms.rowCount !== 1) wrong.push(`${alarms.rowCount} alarms of a dead job`)
  return wrong
}
