// The last part of a database's log: its files go when all of it is stored, or when that was tried often enough.
import { existsSync } from 'node:fs'
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { Servers } from '#databases/server/servers.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'

/** A server that has just started is followed within this time. */
const FOLLOWED_MS = 5000
/** Of a server that does not start or cannot be paid: four minutes, as the reconciler waits longer each time. */
const START_TRIES_MAX = 5
/** Of a log that the service cannot store: some two hours. */
const STORE_TRIES_MAX = 30
const INTERNAL = 500
const NOT_STORED = 'Could not delete the database: the last part of its log is not stored yet'
const NOT_TAKEN = 'the service could not store the last part of the log'

export type LastLogDeps = {
  readonly state: Queryable
  readonly log: Pick<Logger, 'error'>
  readonly data: Pick<AgentCore['data'], 'at'>
  /** In place of FOLLOWED_MS: tests are short. */
  readonly followedMs?: number
}

/**
 * Resolves when the log of a stopped database is stored, or when it has no backup that needs it. Its server runs once
 * more where the log was not stored in time. Throws why that failed: the files stay, and the caller tries again. Resolves
 * with the last of these tries too: an event tells the account since when rows may be missing in the backups.
 */
export async function keepLastLog(
  deps: LastLogDeps,
  servers: Pick<Servers, 'alone'>,
  resource: Resource,
): Promise<void> {
  const { state, log, followedMs = FOLLOWED_MS } = deps
  const { id } = resource
  if (!(await isWaiting(deps, id))) return
  let hasStarted = false
  try {
    await servers.alone(resource, () => {
      hasStarted = true
      return sleep(followedMs)
    })
    if (await isWaiting(deps, id)) throw fault('database_not_ready', NOT_STORED)
  } catch (error) {
    const why = hasStarted ? undefined : wordsOf(error)
    const { rows } = await state.query<{ tries: number }>(
      'update databases set last_log_tries = last_log_tries + 1 where id = $1 returning last_log_tries as tries',
      [id],
    )
    const most = why === undefined ? STORE_TRIES_MAX : START_TRIES_MAX
    if ((rows[0]?.tries ?? 0) < most) throw error
    log.error('The last part of the log of a deleted database is given up', { id, error })
    await state.query('select lose_last_log($1, $2)', [id, why ?? NOT_TAKEN])
  }
}

async function isWaiting({ state, data }: LastLogDeps, id: string): Promise<boolean> {
  const { rowCount } = await state.query(
    `select from databases d where id = $1 and not is_archived and log_lost_from is null
       and exists (select from database_backups b where b.database = d.id and b.status = 'done')`,
    [id],
  )
  return rowCount > 0 && existsSync(data.at('databases', id))
}

/** Why its server does not start, for its account; undefined for a fault of the service, which may pass. */
const wordsOf = (error: unknown): string | undefined =>
  error instanceof ErgonError && error.status < INTERNAL ? error.message : undefined
