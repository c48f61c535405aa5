// Backups and restores that rows ask for: one backup and one restore at a time. Each may begin anew after a kill: what
// an earlier attempt stored is given up first.
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import { NotAwake } from '#databases/agent-socket/awake.ts'
import type { State } from '#state/connect.ts'
import { backUp } from './back-up.ts'
import { BackupFault } from './plan.ts'
import { restore } from './restore.ts'
import { JOB_MS_MAX, type BackupJob, type JobDeps, type JobKind } from './job.ts'
import { sweepRestored } from './sweep-restored.ts'

const TRY_AGAIN = 'the service could not do it now; try again'
/** The SQLSTATE of a server that is not paid, and the codes of work that is not. */
const UNPAID_STATE = '53400'
const UNPAID_CODES: ReadonlySet<string> = new Set([
  'balance_depleted',
  'budget_exhausted',
  'free_tier_exceeded',
])
const AGAIN_MS = 5000
const ATTEMPTS_MAX = 3
/** A restore is charged to the new database. */
const PAYER = `(select account from resources where id = database) as account, database as resource`
/** For each kind: what runs is wanted again, the next one, and the work. */
const LANES = {
  backup: {
    again: "update database_backups set status = 'wanted' where status = 'running'",
    next: `update database_backups set status = 'running', attempts = attempts + 1, started_at = ledger_now(),
        done_bytes = 0
      where id = (select id from database_backups where status = 'wanted' order by id limit 1)
      returning 'backup' as kind, id, database, attempts, ${PAYER}`,
    work: backUp,
  },
  restore: {
    again: "update database_restores set status = 'wanted' where status = 'running'",
    next: `update database_restores set status = 'running', attempts = attempts + 1, done_bytes = 0
      where database = (select database from database_restores where status = 'wanted' order by database limit 1)
      returning 'restore' as kind, database as id, source as database, attempts, ${PAYER}`,
    work: restore,
  },
} as const

/**
 * Works until the signal aborts; `woken` resolves at each notification. A restore waits for no backup. Never rejects.
 */
export async function followJobs(
  deps: JobDeps,
  woken: (kind: JobKind) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([
    followLane(deps, 'backup', woken, signal),
    followLane(deps, 'restore', woken, signal),
  ])
}

async function followLane(
  deps: JobDeps,
  kind: JobKind,
  woken: (kind: JobKind) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { again, next } = LANES[kind]
  while (!signal.aborted)
    try {
      // This process alone does them: those that run were cut by its end.
      await deps.state.query(again)
      if (kind === 'restore') await sweepRestored(deps.state, deps.restoredFolder)
      while (!signal.aborted) {
        const { rows } = await deps.state.query<BackupJob>(next)
        if (rows[0] === undefined) await Promise.race([woken(kind), sleep(AGAIN_MS, signal)])
        else await doJob(deps, rows[0], signal)
      }
    } catch (error) {
      if (signal.aborted) return
      deps.log.warn('Backups could not be followed', { kind, error: messageOf(error) })
      await sleep(AGAIN_MS, signal).catch(() => undefined)
    }
}

async function doJob(deps: JobDeps, job: BackupJob, ending: AbortSignal): Promise<void> {
  const { state, log } = deps
  const signal = AbortSignal.any([ending, AbortSignal.timeout(JOB_MS_MAX)])
  try {
    if (job.attempts > ATTEMPTS_MAX) throw new BackupFault('its process ended three times')
    const { work } = LANES[job.kind]
    await deps.charged(job, (mark, paid) => work({ ...deps, mark }, job, paid), signal)
    log.info('Done with a database', { kind: job.kind, id: job.id, database: job.database })
  } catch (error) {
    if (ending.aborted) return
    log.error('A backup or a restore failed', { kind: job.kind, id: job.id, error })
    await fail(state, job, error)
  }
}

/** The account reads the reason: paths and names of the node stay in its log. */
async function fail(state: State, { kind, id }: BackupJob, error: unknown): Promise<void> {
  const reason = reasonOf(error)
  if (kind === 'backup') {
    await state.query('select drop_parts($1)', [id])
    await state.query(
      `update database_backups set status = 'failed', reason = $2, is_unpaid = $3, ended_at = ledger_now()
       where id = $1`,
      [id, reason, isUnpaid(error)],
    )
    return
  }
  await state.query(
    "update database_restores set status = 'failed', reason = $2 where database = $1",
    [id, reason],
  )
  await state.query("select want_resource($1, 'deployed')", [id])
}

function reasonOf(error: unknown): string {
  if (error instanceof NotAwake) {
    const { message, hint } = error.fatal
    return hint === undefined ? message : `${message}. ${hint}`
  }
  return error instanceof BackupFault || error instanceof ErgonError ? error.message : TRY_AGAIN
}

const isUnpaid = (error: unknown): boolean =>
  error instanceof NotAwake
    ? error.fatal.code === UNPAID_STATE
    : error instanceof ErgonError && UNPAID_CODES.has(error.code)
