// Backups and restores that rows ask for, each in a cell of its own. An account has one backup and one restore at a time,
// and the accounts take turns: neither a slow job nor a long queue of one account keeps the others waiting. Slow jobs of
// two accounts do.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { isUnpayable } from '#charging/faults.ts'
import { energyWords, fatalText } from '#databases/agent-socket/energy-words.ts'
import type { State } from '#state/connect.ts'
import { JOB_MS_MAX, type DueJob, type JobKind } from './job.ts'
import { jobFailure, JobFault, type JobFailure } from './job-failure.ts'
import type { JobCells } from './job-cells.ts'
import { sweepRestored } from './sweep-restored.ts'

export type JobsDeps = {
  readonly state: State
  readonly log: Logger
  readonly cells: Pick<JobCells, 'run'>
  /** Where restored clusters wait for the agent. */
  readonly restoredFolder: string
}

const AGAIN_MS = 5000
/** The most jobs of each kind at once. A restore waits for no backup. */
const JOBS_AT_ONCE = 2
/** Accounts whose last turn is remembered. */
const TURNS_MAX = 1000
const KINDS = ['backup', 'restore'] as const

/** A try that lies further ahead is from before a jump of the clock. */
const IS_DUE = "(w.due_at between ledger_now() and ledger_now() + interval '5 minutes') is not true"

/**
 * For each kind: the next job of an account that has none here, unless a deletion has just ended that job. A row that says
 * `running` for such an account was left by an earlier life of the agent, or while the state was away, and begins anew. One
 * that failed waits for its next try, and a nightly backup of a suspended database for the resume.
 */
const NEXT = {
  backup: `update database_backups b set status = 'running', reason = null, due_at = null, started_at = ledger_now() from resources n
    where n.id = b.database and b.status in ('wanted', 'running') and b.id = (select w.id from database_backups w join resources o on o.id = w.database
      where w.status in ('wanted', 'running') and o.account <> all ($1) and ${IS_DUE}
        and (w.kind = 'manual' or 'suspended' not in (o.wanted, o.actual))
      order by coalesce(array_position($2::text[], o.account), 0), w.id limit 1)
    returning 'backup' as kind, b.id, b.database, b.database as payer, n.account, n.name`,
  restore: `update database_restores r set status = 'running', reason = null, due_at = null from resources n
    where n.id = r.database and r.status in ('wanted', 'running') and r.database = (
      select w.database from database_restores w join resources o on o.id = w.database
      where w.status in ('wanted', 'running') and o.account <> all ($1) and ${IS_DUE}
      order by coalesce(array_position($2::text[], o.account), 0), w.database limit 1)
    returning 'restore' as kind, r.database as id, r.source as database, r.database as payer, n.account, n.name`,
} as const

/** A fault of the service is tried so often, in about four minutes: the pauses grow from 15 s. */
const TRIES_MAX = 5
const againIn = (table: string, key: string) =>
  `update ${table} set status = 'wanted', reason = $2 || '; it is tried again by itself', attempts = 0,
     done_bytes = 0, tries = tries + 1, due_at = ledger_now() + interval '15 s' * 2 ^ tries
   where ${key} = $1 and status = 'running' and tries + 1 < $3`
const AGAIN = {
  backup: againIn('database_backups', 'id'),
  restore: againIn('database_restores', 'database'),
} as const

/** A nightly backup that a suspension ended has not failed. The database may be resumed by now. */
const AT_RESUME = `update database_backups b set status = 'wanted', reason = $2 || '; it is made at the resume',
    attempts = 0, done_bytes = 0 from resources n
  where b.id = $1 and b.status = 'running' and b.kind = 'nightly' and n.id = b.database
    and (n.wanted = 'suspended' or exists (select from resource_intervals i
      where i.resource = n.id and i.slept_by = 'suspended' and i.to_at >= b.started_at))`

/** Works until the signal aborts. Never rejects. */
export async function followJobs(deps: JobsDeps, signal: AbortSignal): Promise<void> {
  const wakes = new Map<JobKind, () => void>()
  const woken = (kind: JobKind) => new Promise<void>((resolve) => wakes.set(kind, resolve))
  const notices = await deps.state
    .listen('ergon_backups', () => wakes.forEach((wake) => wake()))
    .catch((error: unknown) => deps.log.warn('Backups are not told', { error: messageOf(error) }))
  await Promise.all(KINDS.map((kind) => followKind(deps, { kind, woken }, signal)))
  await notices?.[Symbol.asyncDispose]()
}

async function followKind(
  deps: JobsDeps,
  { kind, woken }: { readonly kind: JobKind; readonly woken: (kind: JobKind) => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const { state, log, restoredFolder } = deps
  const running = new Map<string, Promise<void>>()
  let turns: readonly string[] = []
  let isSwept = kind !== 'restore'
  while (!signal.aborted)
    try {
      const waked = woken(kind)
      if (!isSwept) await sweepRestored(state, restoredFolder)
      isSwept = true
      const isFull = running.size >= JOBS_AT_ONCE
      const due = isFull
        ? undefined
        : await state.query<DueJob>(NEXT[kind], [[...running.keys()], turns])
      const job = due?.rows[0]
      if (job === undefined) {
        await Promise.race([waked, sleep(AGAIN_MS, signal), ...running.values()])
        continue
      }
      const { account } = job
      turns = [...turns.filter((one) => one !== account), account].slice(-TURNS_MAX)
      running.set(
        account,
        doJob(deps, job, signal).finally(() => running.delete(account)),
      )
    } catch (error) {
      if (signal.aborted) break
      log.warn('Backups could not be followed', { kind, error: messageOf(error) })
      await sleep(AGAIN_MS, signal).catch(() => undefined)
    }
  await Promise.all(running.values())
}

/** Never rejects. */
async function doJob(deps: JobsDeps, job: DueJob, ending: AbortSignal): Promise<void> {
  const { log } = deps
  const { kind, id, database } = job
  const signal = AbortSignal.any([ending, AbortSignal.timeout(JOB_MS_MAX)])
  try {
    await deps.cells.run(job, signal)
    log.info('Done with a database', { kind, id, database })
  } catch (error) {
    // The job begins anew at the next start.
    if (ending.aborted) return
    if (!(error instanceof JobFault)) log.error('A backup or a restore ended', { kind, id, error })
    const failure = failureOf(error, job.name)
    // A job that takes too long does so again.
    const mayPass = failure.mayPass && !signal.aborted
    await fail(deps, job, { ...failure, mayPass }).catch(async (cause: unknown) => {
      log.error('The end of a backup or a restore is not recorded', { kind, id, error: cause })
      // The job begins anew, not at once.
      await sleep(AGAIN_MS, ending).catch(() => undefined)
    })
  }
}

/** A job may fail behind its success: the answer of its last statement is lost, or its server ends late. */
const SUCCEEDED = {
  backup: "select from database_backups where id = $1 and status = 'done'",
  restore: "select from database_restores where database = $1 and status in ('unpacked', 'done')",
} as const

/** Its account may have suspended the database meanwhile. */
const WANT_AGAIN = 'select want_resource(id, desired) from resources where id = $1'

/**
 * Nothing of the job is left: its process has ended. A fault of the service is tried again, some times. A job that has
 * succeeded keeps its pieces or files.
 */
async function fail(
  { state, restoredFolder }: JobsDeps,
  { kind, id }: DueJob,
  { reason: why, isUnpaid, mayPass }: JobFailure,
): Promise<void> {
  if ((await state.query(SUCCEEDED[kind], [id])).rowCount > 0) {
    // The job may have failed before it asked for the recovery.
    if (kind === 'restore') await state.query(WANT_AGAIN, [id])
    return
  }
  if (kind === 'backup') await state.query('select drop_parts($1)', [id])
  else
    for (const folder of [id, `${id}~`])
      await rm(join(restoredFolder, folder), { recursive: true, force: true })
  if (mayPass && (await state.query(AGAIN[kind], [id, why, TRIES_MAX])).rowCount > 0) return
  const reason = mayPass ? `${why}; it was tried ${TRIES_MAX} times` : why
  if (kind === 'backup') {
    if (!isUnpaid && (await state.query(AT_RESUME, [id, why])).rowCount > 0) return
    await state.query(
      `update database_backups set status = 'failed', reason = $2, is_unpaid = $3, ended_at = ledger_now()
       where id = $1 and status = 'running'`,
      [id, reason, isUnpaid],
    )
    return
  }
  // A deletion has ended it before, with a reason of its own.
  const { rowCount } = await state.query(
    "update database_restores set status = 'failed', reason = $2 where database = $1 and status = 'running'",
    [id, reason],
  )
  if (rowCount > 0) await state.query(WANT_AGAIN, [id])
}

function failureOf(error: unknown, name: string): JobFailure {
  const words = energyWords(error, name)
  const isUnpaid = isUnpayable(error)
  // Energy that cannot be held now is a fault of the service.
  if (words !== undefined && isUnpaid) return { reason: fatalText(words), isUnpaid, mayPass: false }
  return jobFailure(error)
}
