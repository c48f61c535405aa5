// One backup or restore in its process. It may begin anew after a kill: what an earlier attempt stored is given up first.
import { NotAwake } from '#databases/agent-socket/awake.ts'
import { backUp } from './back-up.ts'
import type { BackupJob, JobEnd, JobKind, WorkDeps } from './job.ts'
import { jobFailure } from './job-failure.ts'
import { BackupFault } from './plan.ts'
import { restore } from './restore.ts'

const ATTEMPTS_MAX = 3
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
    const failure = jobFailure(error)
    // Its account reads the words, as of a database that is suspended: the operator has nothing to do.
    if (error instanceof BackupFault || error instanceof NotAwake)
      log.info('A backup or a restore ended without a result', { kind, id, reason: failure.reason })
    else log.error('A backup or a restore failed', { kind, id, error })
    return { failure }
  }
}
