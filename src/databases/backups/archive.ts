// Stores the log of one server while it runs, as a replica does. The server keeps the unstored log in its slot, and
// its stop waits until all of it is stored: so a stopped server has its whole log in blobs.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { StateAddress } from '#state/connect.ts'
import { openReplication, type Replication } from '#state/replication.ts'
import { BackupFault } from './plan.ts'
import { createLogStream, type LogStream, type LogStreamDeps } from './log-stream.ts'
import { positionOf, positionText, segmentStart } from './wire.ts'

export type ArchiveDeps = LogStreamDeps & { readonly log: Logger }

export type LogArchive = {
  /** Stores what has arrived. */
  flush(): Promise<void>
  /** Connects no more: the server is on its way to its end. Resolves when its log is stored, or has to wait. */
  end(): Promise<void>
}

/** A server that starts refuses connections for a moment. */
const AGAIN_MS_MIN = 100
const AGAIN_MS_MAX = 5000
const END_MS = 15_000
/** Log that waits raises an alarm, long before the server drops it. */
const LATE_BYTES = 268_435_456n
const SLOT = 'ergon'
/** SQLSTATE of a slot that is there already. */
const IS_THERE = '42710'

export function createArchive(
  deps: ArchiveDeps,
  database: { readonly id: string; readonly address: StateAddress },
): LogArchive {
  const { log } = deps
  const { id } = database
  const ending = new AbortController()
  let stream: LogStream | undefined
  const running = keepFollowing(
    async (stored) => {
      await using replication = await openReplication(database.address)
      stream = await openStream(deps, replication, id)
      await stream.run().finally(() => {
        if (stream?.hasStored === true) stored()
        stream = undefined
      })
    },
    { id, log, signal: ending.signal },
  )
  return {
    flush: async () => await stream?.flush(),
    async end() {
      ending.abort()
      const timer = setTimeout(() => log.warn('The log of a database waits', { id }), END_MS)
      await running.finally(() => clearTimeout(timer))
      deps.cpu.end()
    },
  }
}

/**
 * Follows a server again and again, until the signal aborts. Pauses grow while nothing is stored: a store that refuses is
 * asked as rarely as a server that does not answer. Never rejects.
 */
export async function keepFollowing(
  follow: (stored: () => void) => Promise<void>,
  { id, log, signal }: { readonly id: string; readonly log: Logger; readonly signal: AbortSignal },
  rest = sleep,
): Promise<void> {
  let restMs = AGAIN_MS_MIN
  while (!signal.aborted) {
    let hasStored = false
    try {
      await follow(() => (hasStored = true))
      hasStored = true
    } catch (error) {
      // The server keeps the log meanwhile.
      const found = { id, error: messageOf(error) }
      if (restMs < AGAIN_MS_MAX) log.debug('The log of a database is not followed yet', found)
      else log.warn('The log of a database is not stored now', found)
    }
    if (hasStored) restMs = AGAIN_MS_MIN
    await rest(restMs, signal).catch(() => undefined)
    restMs = Math.min(restMs * 2, AGAIN_MS_MAX)
  }
}

/**
 * Opens a stream from the end of the stored log, or from the beginning of the server's slot. Throws until this life of
 * the server is recorded, because its end is that of this life alone.
 */
async function openStream(
  deps: ArchiveDeps,
  replication: Replication,
  id: string,
): Promise<LogStream> {
  const { rows } = await deps.state.query<{
    end: string | null
    life: string
    is_archived: boolean
    account: string
  }>(
    `select (select end_lsn::text from database_wal where database = id order by begin_lsn desc limit 1) as end,
       lives::text as life, is_archived, account
     from databases join resources using (id) where id = $1`,
    [id],
  )
  const { end, life = '', is_archived: isEarly, account = id } = rows[0] ?? {}
  if (isEarly !== false) throw new BackupFault('the life of the server is not recorded yet')
  const kept = await openSlot(replication)
  const atMs = deps.clock.wallMs()
  const [system] = await replication.query('IDENTIFY_SYSTEM')
  const stored = typeof end === 'string' ? positionOf(end) : kept
  if (kept > stored) await tellLost(deps, id, { from: stored, to: kept })
  const from = kept > stored ? kept : stored
  const written = positionOf(String(system?.['xlogpos']))
  if (written - from >= LATE_BYTES)
    await deps.state.query('select tell_late_log($1, $2)', [id, String(written - from)])
  const copy = replication.copy(`START_REPLICATION SLOT ${SLOT} PHYSICAL ${positionText(from)}`)
  const timeline = Number(system?.['timeline'])
  return createLogStream(deps, copy, {
    id,
    account,
    life,
    from,
    written: { position: written, atMs },
    timeline,
  })
}

/** Makes the server keep the unstored log; returns the first position that it has. */
async function openSlot(replication: Replication): Promise<bigint> {
  for (;;) {
    await replication
      .query(`CREATE_REPLICATION_SLOT ${SLOT} PHYSICAL RESERVE_WAL`)
      .catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== IS_THERE) throw error
      })
    const [slot] = await replication.query(`READ_REPLICATION_SLOT ${SLOT}`)
    const kept = slot?.['restart_lsn']
    if (typeof kept === 'string') return segmentStart(positionOf(kept))
    // More than the server may keep was not stored in time.
    await replication.query(`DROP_REPLICATION_SLOT ${SLOT}`)
  }
}

/** Times between the two positions cannot be restored; later ones can after another copy of the files. */
async function tellLost(
  { state, log }: ArchiveDeps,
  id: string,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<void> {
  const lost = { database: id, from: positionText(from), to: positionText(to) }
  await state.query('select note_log_gap($1, $2, $3)', [id, lost.from, lost.to])
  log.error('A part of the log of a database was never stored', lost)
}
