// Stores the log of one server while it runs, as a replica does. The server keeps what is not stored yet, in its slot,
// and at its stop waits until everything is: so a stopped server has its whole log in blobs.
import { sleep, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable, StateAddress } from '#state/connect.ts'
import { openReplication, type ReplicationCopy, type Replication } from '#state/replication.ts'
import { BackupFault } from './plan.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import { logMessage, positionOf, positionText, segmentStart, storedTo } from './wire.ts'

export type ArchiveDeps = {
  readonly state: Queryable
  readonly blobs: SealedBlobs
  readonly clock: Clock
  readonly log: Logger
  /** The CPU since the mark before is the operator's. */
  readonly mark: () => void
  /** The longest time that a stored commit waits. */
  readonly restMs: number
}

export type LogArchive = {
  /** Stores what has arrived. */
  flush(): Promise<void>
  /** Connects no more: the server is on its way to its end. Resolves when its log is stored, or has to wait. */
  end(): Promise<void>
}

/** Pieces have at most about so many bytes of the log. */
const PIECE_BYTES_MAX = 4_194_304
const PUT_MS = 60_000
const STATUS_MS = 10_000
/** A server that starts refuses connections for a moment. */
const AGAIN_MS_MIN = 100
const AGAIN_MS_MAX = 5000
const END_MS = 15_000
/** Log that waits longer raises an alarm, long before the server drops it. */
const LATE_MS = 300_000
const LATE_BYTES = 268_435_456n
const SLOT = 'ergon'
/** SQLSTATE of a slot that is there already. */
const IS_THERE = '42710'

/** A log that is stored each hour is not late after five minutes. */
export const lateAfterMs = (restMs: number): number => Math.max(LATE_MS, 3 * restMs)

export function createArchive(
  deps: ArchiveDeps,
  database: { readonly id: string; readonly address: StateAddress },
): LogArchive {
  const { log } = deps
  const { id } = database
  const ending = new AbortController()
  let stream: Stream | undefined
  const running = (async () => {
    let restMs = AGAIN_MS_MIN
    while (!ending.signal.aborted) {
      try {
        await using replication = await openReplication(database.address)
        stream = await openStream(deps, replication, id)
        restMs = AGAIN_MS_MIN
        await stream.run()
      } catch (error) {
        // The server keeps the log meanwhile.
        const found = { id, error: messageOf(error) }
        if (restMs < AGAIN_MS_MAX) log.debug('The log of a database is not followed yet', found)
        else log.warn('The log of a database is not stored now', found)
      }
      stream = undefined
      await sleep(restMs, ending.signal).catch(() => undefined)
      restMs = Math.min(restMs * 2, AGAIN_MS_MAX)
    }
  })()
  return {
    flush: async () => await stream?.flush(),
    async end() {
      ending.abort()
      const timer = setTimeout(() => log.warn('The log of a database waits', { id }), END_MS)
      await running.finally(() => clearTimeout(timer))
    },
  }
}

type Stream = { flush(): Promise<void>; run(): Promise<void> }

/** From where the stored log ends, or from where the server's slot begins. */
async function openStream(
  deps: ArchiveDeps,
  replication: Replication,
  id: string,
): Promise<Stream> {
  const kept = await openSlot(replication)
  const [system] = await replication.query('IDENTIFY_SYSTEM')
  const { rows } = await deps.state.query<{ end: string | null }>(
    'select max(end_lsn)::text as end from database_wal where database = $1',
    [id],
  )
  const end = rows[0]?.end
  const stored = typeof end === 'string' ? positionOf(end) : kept
  if (kept > stored) await tellLost(deps, id, { from: stored, to: kept })
  const from = kept > stored ? kept : stored
  const written = positionOf(String(system?.['xlogpos']))
  if (written - from >= LATE_BYTES)
    await deps.state.query('select tell_late_log($1, $2)', [id, String(written - from)])
  const copy = replication.copy(`START_REPLICATION SLOT ${SLOT} PHYSICAL ${positionText(from)}`)
  return createStream(deps, copy, { id, from, written, timeline: Number(system?.['timeline']) })
}

/** Makes the server keep what is not stored yet; the first position that it has. */
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
  log.error('A part of the log of a database was never stored', lost)
  await raiseAlarm(state, 'database_log_lost', lost)
  await state.query("select want_backup($1, 'nightly')", [id])
}

type StreamBegin = {
  readonly id: string
  readonly from: bigint
  /** The end of the server's log. */
  readonly written: bigint
  readonly timeline: number
}

function createStream(
  { state, blobs, clock, restMs, mark }: ArchiveDeps,
  copy: ReplicationCopy,
  { id, from, timeline, ...begin }: StreamBegin,
): Stream {
  let written = begin.written
  /** The end of the log at a time: the next one to reach. */
  let goal = { position: written, atMs: clock.wallMs() }
  let stored = from
  let arrived = from
  let waiting: Buffer[] = []
  let work: Promise<void> = Promise.resolve()
  const tell = () => copy.send(storedTo(stored, clock.wallMs()))

  async function store(): Promise<void> {
    const [bytes, end] = [waiting, arrived]
    if (end > stored) {
      waiting = []
      const signal = AbortSignal.timeout(PUT_MS)
      const { blob, size, key } = await blobs.put(each(bytes), signal)
      await state.query('select keep_wal($1, $2, $3, $4, $5, $6, $7)', [
        id,
        positionText(stored),
        positionText(end),
        timeline,
        JSON.stringify(blob),
        size,
        JSON.stringify(key),
      ])
      stored = end
    }
    if (stored >= goal.position) {
      await state.query('select log_stored($1, $2, $3)', [id, goal.atMs, lateAfterMs(restMs)])
      goal = { position: written, atMs: clock.wallMs() }
    }
    tell()
    mark()
  }
  /** One after another; a failure ends the stream, and the server keeps the log. */
  const flush = () => (work = work.then(store))

  return {
    flush,
    async run() {
      let failure: { readonly error: unknown } | undefined
      const fail = (error: unknown) => (failure ??= { error })
      const timer = setInterval(() => void flush().catch(fail), restMs)
      const status = setInterval(tell, STATUS_MS)
      try {
        for await (const message of copy.messages) {
          if (failure !== undefined) throw failure.error
          const said = logMessage(message)
          written = said?.written ?? written
          if (said?.kind === 'log') {
            waiting.push(said.bytes)
            arrived = said.at + BigInt(said.bytes.length)
          }
          const isLarge = arrived - stored >= PIECE_BYTES_MAX
          if (isLarge || (said?.kind === 'alive' && said.wantsReply)) await flush()
        }
        await work
        if (stored !== arrived) throw new BackupFault('the server left before its log was stored')
        // The server stopped in order: it has waited for the last byte.
        await state.query(
          'update databases set is_archived = true, is_log_late = false where id = $1',
          [id],
        )
      } finally {
        clearInterval(timer)
        clearInterval(status)
        await work.catch(() => undefined)
      }
    },
  }
}

async function* each(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}
