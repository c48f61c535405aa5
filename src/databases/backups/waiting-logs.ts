// The log that was not stored when its server ended: after a kill, or where the server was ended before its log was
// followed. A database that sleeps would keep this log on one disk until the next connection, so its server runs once more.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { isUnpayable } from '#charging/faults.ts'
import type { Servers } from '#databases/server/servers.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import { FOLLOWED_MS } from './last-log.ts'

/** The second check finds what waits since the first one: all tries are over before the alarm. */
const CHECK_MS = 30_000
/** Servers that run for their log at once. */
const AT_ONCE = 4
/** Each runs longer than the one before. Its account pays: a log that nobody takes does not wake a server for ever. */
const TRIES_MAX = 3

export type WaitingLogsDeps = {
  readonly state: Queryable
  readonly log: Pick<Logger, 'debug' | 'warn'>
  /** Resolves when the process runs that stores logs. */
  readonly storing: () => Promise<void>
  /** In place of CHECK_MS and FOLLOWED_MS: tests are short. */
  readonly checkMs?: number
  readonly followedMs?: number
}

/** Works until the signal aborts. Never rejects. */
export async function storeWaitingLogs(
  deps: WaitingLogsDeps,
  servers: Pick<Servers, 'use' | 'running'>,
  signal: AbortSignal,
): Promise<void> {
  /** The databases whose log waited at the last check, with the number of their tries. */
  let known = new Map<string, number>()
  const check = async () => {
    const waiting = await waitingLogs(deps.state)
    const running = new Set(servers.running().map(({ id }) => id))
    // The log of a server that has just ended is being stored: it is new here.
    const due = waiting.filter(
      ({ id }) => !running.has(id) && (known.get(id) ?? TRIES_MAX) < TRIES_MAX,
    )
    const asleep = waiting.filter(({ id }) => !running.has(id))
    known = new Map(asleep.map(({ id }) => [id, known.get(id) ?? 0]))
    const next = due.values()
    const wakeNext = async () => {
      for (const database of next) {
        if (signal.aborted) return
        const tries = (known.get(database.id) ?? 0) + 1
        known.set(database.id, tries)
        await wake(deps, servers, { database, tries }, signal)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, wakeNext))
  }
  while (!signal.aborted) {
    await check().catch((error: unknown) => {
      if (!signal.aborted)
        deps.log.warn('Logs of databases that wait are not found', { error: messageOf(error) })
    })
    await sleep(deps.checkMs ?? CHECK_MS, signal).catch(() => undefined)
  }
}

/** Of databases that may run. Those that run now have log that is not stored yet, too. */
async function waitingLogs(state: Queryable): Promise<Resource[]> {
  const { rows } = await state.query<Resource>(
    `select n.id, n.account, n.name from databases d join resources n using (id)
     where not d.is_archived and n.wanted = 'deployed' and n.actual = 'deployed' order by d.log_stored_at`,
  )
  return rows
}

/** The log is stored while the server runs, and up to its last byte at its end, which comes with the release. Never rejects. */
async function wake(
  { log, storing, followedMs = FOLLOWED_MS }: WaitingLogsDeps,
  servers: Pick<Servers, 'use'>,
  { database, tries }: { readonly database: Resource; readonly tries: number },
  signal: AbortSignal,
): Promise<void> {
  const { id } = database
  try {
    await storing()
    const server = await servers.use({ ...database, idleMs: 0 }, { cause: 'backup' }, signal)
    await sleep(tries * followedMs, signal).finally(() => server.release())
  } catch (error) {
    if (signal.aborted) return
    const tell = isUnpayable(error) ? log.debug : log.warn
    tell('A server did not start for its log', { id, error: messageOf(error) })
  }
}
