// The last part of a database's log: its files go when all of it is stored, or when that was tried often enough.
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { isUnpayable } from '#charging/faults.ts'
import { fault } from '#contract/errors.ts'
import { isFaultOfService } from '#databases/server/failing-start.ts'
import { hasFiles } from '#databases/server/make-cluster.ts'
import type { Servers } from '#databases/server/servers.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import { isRecovering } from './placed.ts'

/** A server that has just started is followed within this time. */
const FOLLOWED_MS = 5000
/**
 * Tries in a row with one cause. A server that does not start has four minutes, as the reconciler waits longer each time.
 * A fault of the service has some two hours. Energy that is not paid, and a node that runs no databases, have no number, but
 * the time below.
 */
const TRIES_MAX = { start: 5, service: 30, unpaid: Infinity, off: Infinity } as const
/** Hours from the first try on, whatever the causes are. Free energy and budgets are renewed within a day. */
const HOURS_MAX = 26
const INTERNAL = 500
const NOT_STORED = 'Could not delete the database: the last part of its log is not stored yet'
const NOT_TAKEN = 'the service could not store the last part of the log'
const GONE = 'its files are missing'
const NOT_COPIED = 'an earlier part of the log was lost, and no copy was made since'

export type LastLogDeps = {
  readonly state: Queryable
  readonly log: Pick<Logger, 'error'>
  readonly data: Pick<AgentCore['data'], 'at'>
  /** Resolves when the process runs that stores logs. Throws databases_off where the node runs no databases. */
  readonly storing: () => Promise<void>
  /** In place of FOLLOWED_MS: tests are short. */
  readonly followedMs?: number
}

/**
 * Resolves when the log of a stopped database is stored, or when it has no backup that needs it. Its server runs once
 * more where the log was not stored in time: its account pays, and its energy budget limits it no more. Throws why that
 * failed: the files stay, and the caller tries again. Resolves with the last of these tries too. An event tells the
 * account since when no time can be restored.
 */
export async function keepLastLog(
  deps: LastLogDeps,
  servers: Pick<Servers, 'alone'>,
  resource: Resource,
): Promise<void> {
  const { state, log, data, storing, followedMs = FOLLOWED_MS } = deps
  const { id } = resource
  if (!(await isWaiting(deps, id))) return await tellGap(state, id)
  const folder = data.at('databases', id)
  // The server of restored files that are not recovered would write its log where the stored log ends.
  if (!hasFiles(folder) || isRecovering(folder)) return await lose(state, id, GONE)
  let hasStarted = false
  try {
    await storing()
    await state.query('select set_budget($1, null, null)', [id])
    await servers.alone(resource, () => {
      hasStarted = true
      return sleep(followedMs)
    })
    if (await isWaiting(deps, id)) throw fault('database_not_ready', NOT_STORED)
  } catch (error) {
    const cause = causeOf(error, hasStarted)
    if (!(await isLastTry(state, id, cause))) throw error
    log.error('The last part of the log of a deleted database is given up', { id, error })
    const why = cause === 'service' ? NOT_TAKEN : messageOf(error)
    return await lose(state, id, why)
  }
  await tellGap(state, id)
}

const lose = async (state: Queryable, id: string, why: string): Promise<void> =>
  void (await state.query('select lose_last_log($1, $2)', [id, why]))

/** Counts a try that failed. */
async function isLastTry(
  state: Queryable,
  id: string,
  cause: keyof typeof TRIES_MAX,
): Promise<boolean> {
  const { rows } = await state.query<{ tries: number; isLate: boolean }>(
    `update databases set last_log_cause = $2,
       last_log_tries = case when last_log_cause = $2 then last_log_tries else 0 end + 1,
       last_log_tried_from = coalesce(last_log_tried_from, ledger_now())
     where id = $1 returning last_log_tries as tries,
       last_log_tried_from < ledger_now() - make_interval(hours => $3) as "isLate"`,
    [id, cause, HOURS_MAX],
  )
  const [counted] = rows
  return counted !== undefined && (counted.isLate || counted.tries >= TRIES_MAX[cause])
}

/** The log is whole from behind a part that was lost, but no copy of the files is. */
async function tellGap(state: Queryable, id: string): Promise<void> {
  await state.query(
    'select lose_last_log(id, $2) from databases where id = $1 and log_lost_from(id) is not null',
    [id, NOT_COPIED],
  )
}

/** Nothing is restored of an account that is being deleted. */
async function isWaiting({ state }: LastLogDeps, id: string): Promise<boolean> {
  const { rowCount } = await state.query(
    `select from databases d join resources n using (id) where d.id = $1 and not is_archived
       and exists (select from database_backups b where b.database = d.id and b.status = 'done')
       and not exists (select from account_deletions a where a.account = n.account and a.begun_at is not null)`,
    [id],
  )
  return rowCount > 0
}

function causeOf(error: unknown, hasStarted: boolean): keyof typeof TRIES_MAX {
  if (isUnpayable(error)) return 'unpaid'
  if (error instanceof ErgonError && error.code === 'databases_off') return 'off'
  const isOfAccount = error instanceof ErgonError && error.status < INTERNAL
  return hasStarted || !isOfAccount || isFaultOfService(error) ? 'service' : 'start'
}
