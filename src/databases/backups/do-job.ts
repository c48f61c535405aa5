// One backup or restore in its process. It may begin anew after a kill: what an earlier attempt stored is given up first.
import { ErgonError } from '#base/errors.ts'
import { NotAwake } from '#databases/agent-socket/awake.ts'
import { fatalText } from '#databases/agent-socket/energy-words.ts'
import { backUp } from './back-up.ts'
import {
  TRY_AGAIN,
  type BackupJob,
  type JobEnd,
  type JobFailure,
  type JobKind,
  type WorkDeps,
} from './job.ts'
import { BackupFault } from './plan.ts'
import { restore } from './restore.ts'

const ATTEMPTS_MAX = 3
/** The SQLSTATE of a server that is not paid. */
const UNPAID_STATE = '53400'
const BEGIN: Readonly<Record<JobKind, string>> = {
  backup: `update database_backups set attempts = attempts + 1, done_bytes = 0
    where id = $1 and status = 'running' returning attempts`,
  restore: `update database_restores set attempts = attempts + 1, done_bytes = 0
    where database = $1 and status = 'running' returning attempts`,
}
const WORK = { backup: backUp, restore } as const

/** Rejects with the reason of `ending`, and never else. */
export async function doJob(deps: WorkDeps, job: BackupJob, ending: AbortSignal): Promise<JobEnd> {
  const { state, log } = deps
  const { kind, id } = job
  try {
    const { rows } = await state.query<{ attempts: number }>(BEGIN[kind], [id])
    const [begun] = rows
    // It is deleted.
    if (begun === undefined) return {}
    if (begun.attempts > ATTEMPTS_MAX) throw new BackupFault('its process ended three times')
    await WORK[kind](deps, job, ending)
    return {}
  } catch (error) {
    ending.throwIfAborted()
    log.error('A backup or a restore failed', { kind, id, error })
    return { failure: failureOf(error) }
  }
}

function failureOf(error: unknown): JobFailure {
  if (error instanceof NotAwake)
    return { reason: fatalText(error.fatal), isUnpaid: isUnpaid(error) }
  if (error instanceof BackupFault)
    return { reason: error.message, isUnpaid: isUnpaid(error.cause) }
  return { reason: error instanceof ErgonError ? error.message : TRY_AGAIN, isUnpaid: false }
}

const isUnpaid = (error: unknown): boolean =>
  error instanceof NotAwake && error.fatal.code === UNPAID_STATE
