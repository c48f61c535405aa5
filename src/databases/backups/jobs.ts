// Backups and restores that rows ask for: one backup and one restore at a time. Each may begin anew after a kill: what
// an earlier attempt stored is given up first.
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sleep, type Clock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { AgentSocket } from '#databases/agent-socket/ask-agent.ts'
import { keepAwake, type Awake } from '#databases/agent-socket/awake.ts'
import { superuserAddress } from '#databases/server/superuser.ts'
import { connectState, type State, type StateAddress } from '#state/connect.ts'
import { copyFiles } from './copy-files.ts'
import { BackupFault, planRestore, type WantedRestore } from './plan.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import { sweepRestored } from './sweep-restored.ts'
import { unpackCluster, type Until } from './unpack.ts'
import { positionText } from './wire.ts'

export type JobDeps = {
  readonly state: State
  readonly blobs: SealedBlobs
  readonly clock: Clock
  readonly log: Logger
  /** Charges the CPU of work to an account. */
  readonly charged: (job: Charged, work: ChargedWork, signal: AbortSignal) => Promise<void>
  /** The agent, which keeps servers running. */
  readonly agent: AgentSocket
  readonly superuserPassword: string
  /** Where restored clusters wait for the agent. */
  readonly restoredFolder: string
}

/** The payer of work, and the id of the database on the receipt. */
export type Charged = { readonly account: string; readonly resource: string }
export type ChargedWork = (mark: () => void, signal: AbortSignal) => Promise<void>

export type JobKind = 'backup' | 'restore'

type Job = Charged & {
  readonly kind: JobKind
  /** Of the backup, or of the new database. */
  readonly id: string
  readonly database: string
  readonly attempts: number
}

/** `mark` charges the CPU since the mark before. */
type WorkDeps = JobDeps & { readonly mark: () => void }

const TRY_AGAIN = 'the service could not do it now; try again'
const AGAIN_MS = 5000
const ATTEMPTS_MAX = 3
const TOLD_MS = 500
const STORED_MS = 60_000
const LOOK_MS = 50
const JOB_MS_MAX = 24 * 3_600_000
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
        const { rows } = await deps.state.query<Job>(next)
        if (rows[0] === undefined) await Promise.race([woken(kind), sleep(AGAIN_MS, signal)])
        else await doJob(deps, rows[0], signal)
      }
    } catch (error) {
      if (signal.aborted) return
      deps.log.warn('Backups could not be followed', { kind, error: messageOf(error) })
      await sleep(AGAIN_MS, signal).catch(() => undefined)
    }
}

async function doJob(deps: JobDeps, job: Job, ending: AbortSignal): Promise<void> {
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
async function fail(state: State, { kind, id }: Job, error: unknown): Promise<void> {
  const reason =
    error instanceof BackupFault || error instanceof ErgonError ? error.message : TRY_AGAIN
  if (kind === 'backup') {
    await state.query('select drop_parts($1)', [id])
    await state.query(
      "update database_backups set status = 'failed', reason = $2, ended_at = ledger_now() where id = $1",
      [id, reason],
    )
    return
  }
  await state.query(
    "update database_restores set status = 'failed', reason = $2 where database = $1",
    [id, reason],
  )
  await state.query("select want_resource($1, 'deployed')", [id])
}

async function backUp(deps: WorkDeps, { id, database }: Job, ending: AbortSignal): Promise<void> {
  const { state } = deps
  await state.query('select drop_parts($1)', [id])
  const { awake, address, signal } = await wake(deps, database, ending)
  try {
    // The log is stored from before the copy.
    await storeNow(deps, { database, address }, signal)
    const told = teller(
      deps,
      'update database_backups set done_bytes = $2, total_bytes = $3 where id = $1',
      { id },
    )
    const { timeline, begin, end, bytes } = await copyFiles(
      deps,
      { backup: id, address },
      told,
      signal,
    )
    await reach(deps, database, { position: end, signal })
    await state.query(
      `update database_backups set status = 'done', timeline = $2, begin_lsn = $3, end_lsn = $4,
         done_bytes = $5, total_bytes = $5, ended_at = ledger_now() where id = $1`,
      [id, timeline, begin, end, bytes],
    )
  } finally {
    awake.release()
  }
}

/** The server of a database, which runs until the release; `signal` aborts when it must not be used any more. */
async function wake(
  { agent, superuserPassword }: JobDeps,
  database: string,
  ending: AbortSignal,
): Promise<{ awake: Awake; address: StateAddress; signal: AbortSignal }> {
  const awake = await keepAwake(agent, `backups/${database}`, ending)
  const gone = new AbortController()
  void awake.ended.then(({ message }) => gone.abort(new BackupFault(message)))
  const address = superuserAddress(dirname(awake.socketPath), superuserPassword)
  return { awake, address, signal: AbortSignal.any([ending, gone.signal]) }
}

/** Stores the log up to now. */
async function storeNow(
  deps: JobDeps,
  { database, address }: { readonly database: string; readonly address: StateAddress },
  signal: AbortSignal,
): Promise<void> {
  await using server = connectState({ address, connections: 1, log: deps.log })
  const { rows } = await server.query<{ position: string }>(
    'select pg_current_wal_flush_lsn()::text as position',
  )
  await reach(deps, database, { position: rows[0]?.position ?? '', signal })
}

/** Waits until the log is stored up to a position. */
async function reach(
  { state, clock }: JobDeps,
  database: string,
  { position, signal }: { readonly position: string; readonly signal: AbortSignal },
): Promise<void> {
  const lastMs = clock.monotonicMs() + STORED_MS
  for (;;) {
    const { rowCount } = await state.query(
      'select from database_wal where database = $1 and end_lsn >= $2 limit 1',
      [database, position],
    )
    if (rowCount > 0) return
    if (clock.monotonicMs() > lastMs) throw new BackupFault('its log could not be stored in time')
    await state.query("select pg_notify('ergon_archive', $1)", [database])
    await sleep(LOOK_MS, signal)
  }
}

/** Writes the progress down, twice a second at most; `gone` hears that nobody waits for it. */
function teller(
  { state, clock, mark }: WorkDeps,
  text: string,
  { id, gone }: { readonly id: string; readonly gone?: () => void },
) {
  let lastMs = -Infinity
  return (doneBytes: number, totalBytes?: number) => {
    mark()
    const nowMs = clock.monotonicMs()
    if (totalBytes === undefined && nowMs - lastMs < TOLD_MS) return
    lastMs = nowMs
    state.query(text, [id, doneBytes, totalBytes ?? null]).then(
      ({ rowCount }) => rowCount === 0 && gone?.(),
      () => undefined,
    )
  }
}

async function restore(deps: WorkDeps, { id, database }: Job, ending: AbortSignal): Promise<void> {
  const { state } = deps
  const { rows } = await state.query<WantedRestore & { is_awake: boolean; size: string }>(
    `select r.source, r.backup, r.until, n.desired = 'deployed' and not d.is_archived as is_awake
     from database_restores r join databases d on d.id = r.source join resources n on n.id = r.source
     where r.database = $1`,
    [id],
  )
  const [wanted] = rows
  if (wanted === undefined) return
  if (wanted.is_awake && wanted.backup === null) {
    const { awake, address, signal } = await wake(deps, database, ending)
    try {
      await storeNow(deps, { database, address }, signal)
    } finally {
      awake.release()
    }
  }
  const plan = await planRestore(state, wanted)
  const until: Until = wanted.backup === null ? (wanted.until ?? 'end') : 'consistent'
  // A deletion ends the restore.
  const gone = new AbortController()
  const told = teller(
    deps,
    `update database_restores set done_bytes = $2, total_bytes = coalesce($3, total_bytes)
     where database = $1 and status = 'running'`,
    { id, gone: () => gone.abort() },
  )
  told(0, plan.filesBytes)
  const folder = join(deps.restoredFolder, id)
  const signal = AbortSignal.any([ending, gone.signal])
  try {
    await unpackCluster(deps, { folder, plan, until }, told, signal)
  } catch (error) {
    if (gone.signal.aborted) return
    throw error
  }
  const last = plan.log.at(-1)?.end ?? plan.consistent
  const { rowCount } = await state.query(
    "update database_restores set status = 'unpacked', least_lsn = $2 where database = $1 and status = 'running'",
    [id, positionText(until === 'end' ? last : plan.consistent)],
  )
  if (rowCount === 0) await rm(folder, { recursive: true, force: true })
  else await state.query("select want_resource($1, 'deployed')", [id])
}
