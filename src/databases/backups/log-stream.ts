// The log of a server as it comes, stored in pieces.
import type { Clock } from '#base/clock.ts'
import type { Queryable } from '#state/connect.ts'
import type { ReplicationCopy } from '#state/replication.ts'
import type { LogWork } from './log-cpu.ts'
import { createLogEnds, type LogEnd } from './log-ends.ts'
import { BackupFault } from './plan.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import type { StoreTurns } from './store-turns.ts'
import { logMessage, positionText, storedTo } from './wire.ts'

export type LogStreamDeps = {
  readonly state: Queryable
  readonly blobs: SealedBlobs
  readonly clock: Clock
  /** Counts the work, which the database pays. */
  readonly cpu: LogWork
  readonly turns: Pick<StoreTurns, 'take'>
  /** The longest time that a stored commit waits. */
  readonly restMs: number
}

export type LogStream = {
  /** Stores what has arrived. */
  flush(): Promise<void>
  /** True once it has stored anything. */
  readonly hasStored: boolean
  /** Resolves when the server has stopped in order. */
  run(): Promise<void>
}

/** Pieces have at most about so many bytes of the log. */
const PIECE_BYTES_MAX = 4_194_304
const PUT_MS = 60_000
/** For a turn, which each holder leaves within PUT_MS. Without one the stream ends, and begins anew at the end of the queue. */
const TURN_MS = 3_600_000
/** A log that waits for its turn says so, more often than a job that needs the log looks for a sign of it. */
const WAITING_MS = 20_000
const STATUS_MS = 10_000
/** Not of a later life, whose log is not stored yet. */
const ARCHIVED =
  'update databases set is_archived = true, is_log_late = false where id = $1 and lives = $2'
/** Log that waits longer raises an alarm, long before the server drops it. */
const LATE_MS = 300_000

/** A log that is stored each hour is not late after five minutes. */
export const lateAfterMs = (restMs: number): number => Math.max(LATE_MS, 3 * restMs)

export type LogStreamBegin = {
  readonly id: string
  readonly account: string
  /** The number of this life of the server. */
  readonly life: string
  readonly from: bigint
  readonly written: LogEnd
  readonly timeline: number
}

/** Throws what the server and the store throw: from then on the server keeps the log. */
export function createLogStream(
  { state, blobs, clock, restMs, cpu, turns }: LogStreamDeps,
  copy: ReplicationCopy,
  { id, account, life, from, timeline, written }: LogStreamBegin,
): LogStream {
  const ends = createLogEnds(clock, written)
  /** The next end of the log to reach. */
  let goal = written
  let stored = from
  let arrived = from
  let waiting: Buffer[] = []
  const tell = () => copy.send(storedTo(stored, clock.wallMs()))

  async function store(): Promise<void> {
    const [bytes, end] = [waiting, arrived]
    if (end > stored) {
      waiting = []
      using _turn = await takeTurn({ state, turns }, { id, account })
      cpu.piece()
      const signal = AbortSignal.timeout(PUT_MS)
      const { blob, size, key } = await blobs.put(counted(bytes, cpu), signal, cpu.stored)
      const named = [JSON.stringify(blob), size, JSON.stringify(key)]
      const place = [id, positionText(stored), positionText(end), timeline]
      await state.query('select keep_wal($1, $2, $3, $4, $5, $6, $7)', [...place, ...named])
      stored = end
    }
    if (stored >= goal.position) {
      await state.query('select log_stored($1, $2, $3)', [id, goal.atMs, lateAfterMs(restMs)])
      goal = ends.last()
    }
    tell()
  }
  // A failure ends the stream, also where the server has nothing more to say.
  const stores = createStores(store, copy.fail)

  return {
    flush: stores.flush,
    get hasStored() {
      return stored > from
    },
    async run() {
      const timer = setInterval(() => void stores.flush(), restMs)
      const status = setInterval(tell, STATUS_MS)
      try {
        for await (const message of copy.messages) {
          ends.work()
          const said = logMessage(message)
          if (said?.kind === 'log') {
            cpu.heard(said.bytes.length)
            ends.hear(said)
            waiting.push(said.bytes)
            arrived = said.at + BigInt(said.bytes.length)
          }
          const isLarge = arrived - stored >= PIECE_BYTES_MAX
          if (isLarge || (said?.kind === 'alive' && said.wantsReply)) await stores.flush()
          ends.wait()
        }
        await stores.last()
        if (stored !== arrived) throw new BackupFault('the server left before its log was stored')
        // The server stopped in order: it has waited for the last byte.
        await state.query(ARCHIVED, [id, life])
      } finally {
        clearInterval(timer)
        clearInterval(status)
        await stores.last().catch(() => undefined)
      }
    },
  }
}

/** Says while it waits that it does. */
async function takeTurn(
  { state, turns }: Pick<LogStreamDeps, 'state' | 'turns'>,
  { id, account }: { readonly id: string; readonly account: string },
): Promise<Disposable> {
  const tellWaiting = () =>
    void state
      .query('update databases set log_waited_at = ledger_now() where id = $1', [id])
      .catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  try {
    return await turns.take(account, AbortSignal.timeout(TURN_MS), () => {
      tellWaiting()
      timer = setInterval(tellWaiting, WAITING_MS)
    })
  } finally {
    clearInterval(timer)
  }
}

/** Stores one after another. `fail` hears of the first failure, which ends them all. */
function createStores(store: () => Promise<void>, fail: (error: unknown) => void) {
  let work: Promise<void> = Promise.resolve()
  /** The store that has not begun yet: it takes all that has arrived until it begins. */
  let next: Promise<void> | undefined
  return {
    flush(): Promise<void> {
      if (next !== undefined) return next
      next = work.then(() => {
        next = undefined
        return store()
      })
      work = next
      work.catch(fail)
      return work
    },
    /** Settles with the store that was asked for last. */
    last: () => work,
  }
}

/** Counts each chunk as the store takes it, just before its CPU is used. */
async function* counted(
  chunks: readonly Buffer[],
  cpu: Pick<LogWork, 'bytes'>,
): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    cpu.bytes(chunk.length)
    yield chunk
  }
}
