// Keeps a database within its size while its server runs: at the limit its writers are ended and its transactions are
// read-only by default, until there is room again. An owner who deletes writes on purpose (`begin read write`); a
// session that makes the database grow then is ended.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { FatalError } from '#wire/messages.ts'
import type { State } from '#state/connect.ts'
import { DROPPED_MIN_BYTES } from './drop.ts'
import {
  aheadWords,
  fullWords,
  temporaryWords,
  unreadWords,
  whyFull,
  type SizeLimits,
  type WhyFull,
} from './full-words.ts'
import { createGrowthPace, type GrowthPace } from './pace.ts'
import { createSlowdown } from './slowdown.ts'
import type { StoredFiles, StoredReader } from './stored.ts'
import type { WrittenTables, WrittenWait } from './until-written.ts'
import { createWriters, type Writers } from './writers.ts'

export type SizeDeps = SizeLimits & {
  /** The folder of the cluster. */
  readonly folder: string
  readonly log: Logger
  readonly read: StoredReader
  readonly untilWritten: WrittenTables
  /** Opens a connection as the superuser. */
  readonly connect: () => State
  /** At most so many thousandths of a processor for the server; undefined: as many as there are. */
  readonly slow: (milli: number | undefined) => void
  /** Stops the sessions of customers where they are, until the disposal. */
  readonly hold: () => Disposable
  /** Ends sessions with words: those of these backends, or all. */
  readonly cut: (fatal: FatalError, pids?: readonly number[]) => void
  /** Told at the first measurement, when the database becomes full or has room again, and every 10 s. */
  readonly found: (stored: StoredFiles, full: FatalError | undefined) => Promise<void>
}

/**
 * Twice the fastest writer: CREATE UNLOGGED TABLE AS wrote 1.2 GB/s on an idle processor. So half of the room is left
 * at the next measurement.
 */
const BYTES_PER_MS = 2_500_000
/** Near the limit, while tables are written. */
const REST_MIN_MS = 5
/**
 * Near the limit, while they are not: 0.8 ms of CPU each is 3 % of a processor. A write ends the rest, because the
 * fastest writer does 30 MB in it, an eighth of the smallest database.
 */
const REST_QUIET_MS = 25
const REST_MAX_MS = 2000
/**
 * With more room, a rest without a write to a table is so many times as long. Files that are no tables are not watched:
 * they grow more slowly than a quarter of the fastest writer (NOTIFY).
 */
const QUIET_RESTS = 4
const REST_AFTER_ERROR_MS = 100
/** Measurements take at most a sixth of a processor: while a database with many tables grows near its limit. */
const REST_PER_CPU = 5
/** A connection is opened so long before the limit: a login at the limit would leave a writer 15 ms more. */
const NEAR_MS = 200
/** A full database has room again below this part of its size. */
const ROOM_AGAIN = 0.95
/** Above its size by so much at most. */
const OVER_MAX = 1.05
/** The maps of free space grow while rows are deleted. */
const GROWTH_MIN_BYTES = 1_048_576
const GROWTH_PART = 0.001
const FOUND_MS = 10_000
/** Measurements that grow without a writer, or their bytes; then all sessions are ended (NOTIFY grows so). */
const UNEXPLAINED_MAX = 20
const UNEXPLAINED_MAX_BYTES = 16_000_000

/** A database that is full. */
type Full = {
  readonly why: WhyFull
  /** The least that was stored since then. */
  readonly least: number
  /** Measurements that grew without a writer, and their bytes. */
  readonly unexplained: number
  readonly unexplainedBytes: number
}

/** Works until the signal aborts. Never rejects. */
export async function keepSize(deps: SizeDeps, signal: AbortSignal): Promise<void> {
  const data = join(deps.folder, 'data')
  const slowdown = createSlowdown(BYTES_PER_MS, deps.slow)
  // A server that stops has work to do.
  signal.addEventListener('abort', slowdown.lift, { once: true })
  const hold = () => {
    const held = deps.hold()
    slowdown.lift()
    return held
  }
  await using writers = createWriters({ ...deps, hold })
  const tell = createTeller(deps)
  const paceOf = createGrowthPace()
  let full = isReadOnly(data) ? fullSince('size', Infinity) : undefined
  let dueMs = performance.now()
  let said = ''
  /** No table was written in the last rest. */
  let isQuiet = false
  let roomMost = Infinity
  /** Stored when there were no temporary files last. */
  let bareBytes: number | undefined
  while (!signal.aborted) {
    let rest = restOf(REST_AFTER_ERROR_MS)
    try {
      const [begunMs, begunCpuMs] = [performance.now(), cpuMs()]
      const stored = await readDropped({ ...deps, writers }, full, signal)
      const tookCpuMs = cpuMs() - begunCpuMs
      const pace = paceOf(stored.bytes, { atMs: begunMs, lateMs: begunMs - dueMs })
      const { bytes } = stored
      slowdown.look({ bytes, atMs: begunMs, pace, room: roomOf(deps, stored, OVER_MAX) })
      if (pace.isGrowing && roomOf(deps, stored, 1) < NEAR_MS * BYTES_PER_MS) writers.warm()
      if (stored.temporaryBytes === 0) bareBytes = bytes
      bareBytes ??= bytes
      await endTemporary({ ...deps, writers }, { stored, full, grownBytes: bytes - bareBytes })
      const why = whyFull(deps, stored, full && { [full.why]: ROOM_AGAIN })
      // Before the server is asked: one on a full disk lets nobody in.
      tell(stored, why && fullWords(full?.why ?? why, deps))
      const settle = full === undefined ? whileOpen : whileFull
      full = await settle({ ...deps, writers }, { stored, why, pace, full })
      said = ''
      const room = roomOf(deps, stored, full === undefined ? 1 : OVER_MAX)
      roomMost = roomOf(deps, stored, OVER_MAX)
      const hasTemporary = stored.temporaryBytes > 0
      rest = restAfter(room, { tookCpuMs, isGrowing: pace.isGrowing, isQuiet, hasTemporary })
    } catch (error) {
      if (signal.aborted) return
      const reason = messageOf(error)
      if (reason !== said)
        deps.log.warn('The size of a database could not be kept', { error: reason })
      said = reason
    }
    dueMs = performance.now() + rest.mostMs
    isQuiet = !(await restFor(deps, { data, rest }, signal).catch(() => true))
    // The first write after a rest: at full speed it does half of the room until the second measurement.
    if (!isQuiet && rest.leastMs === 0) slowdown.brace({ atMs: performance.now(), room: roomMost })
  }
}

/** Measures a database. Where that is full, what its server can drop is dropped before. */
async function readDropped(
  deps: SettleDeps,
  full: Full | undefined,
  signal: AbortSignal,
): Promise<StoredFiles> {
  const data = join(deps.folder, 'data')
  const stored = await deps.read(data, signal)
  const why = full?.why ?? whyFull(deps, stored)
  if (why === undefined || stored.droppableBytes < DROPPED_MIN_BYTES) return stored
  // A server on a full disk may let nobody in, and its size is kept all the same.
  const dropped = deps.writers.drop(unreadWords).then(
    () => true,
    () => false,
  )
  return (await dropped) ? await deps.read(data, signal) : stored
}

/** CPU of this thread: on a busy machine a measurement waits for its turn for longer than it takes. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const fullSince = (why: WhyFull, least: number): Full => ({
  why,
  least,
  unexplained: 0,
  unexplainedBytes: 0,
})

type LastMeasurement = {
  readonly tookCpuMs: number
  readonly isGrowing: boolean
  readonly isQuiet: boolean
  /** Queries sort or hash on disk, and may grow fast. */
  readonly hasTemporary: boolean
}

/** A rest of this time, whatever is written. */
const restOf = (ms: number): WrittenWait => ({ leastMs: ms, mostMs: ms, blindMs: ms })

/** Where a write ends the rest, the one before it may end at once: that is the second measurement in `mostMs`. */
function restAfter(room: number, last: LastMeasurement): WrittenWait {
  const roomMs = Math.min(REST_MAX_MS, room / BYTES_PER_MS)
  const leastMs = Math.max(REST_MIN_MS, roomMs, last.tookCpuMs * REST_PER_CPU)
  const fixed = restOf(leastMs)
  if (last.isGrowing) return fixed
  if (leastMs < REST_QUIET_MS)
    return { ...restOf(REST_QUIET_MS), leastMs: last.isQuiet ? 0 : leastMs }
  if (last.hasTemporary) return fixed
  // A write after `leastMs` ends the rest at once, so the writer has as much room as at this measurement.
  const mostMs = Math.min(REST_MAX_MS, QUIET_RESTS * leastMs)
  return { ...fixed, mostMs: Math.max(leastMs, mostMs) }
}

/** True when tables were written in the rest, or when nobody looked. */
async function restFor(
  { untilWritten }: SizeDeps,
  { data, rest }: { readonly data: string; readonly rest: WrittenWait },
  signal: AbortSignal,
): Promise<boolean> {
  if (rest.leastMs < rest.mostMs) return await untilWritten(data, rest, signal)
  await sleep(rest.leastMs, signal)
  return true
}

/** Bytes that may still be written. */
const roomOf = (
  { sizeBytes, spaceBytes }: SizeLimits,
  { bytes }: StoredFiles,
  part: number,
): number => Math.min(sizeBytes() * part - bytes, spaceBytes())

/** Reports the measurement: at the first time, at a change, and every 10 s. */
function createTeller({ found, log }: SizeDeps) {
  let lastMessage: string | undefined | null = null
  let lastMessageMs = 0
  return (stored: StoredFiles, words: FatalError | undefined): void => {
    const nowMs = performance.now()
    if (words?.message === lastMessage && nowMs - lastMessageMs <= FOUND_MS) return
    ;[lastMessage, lastMessageMs] = [words?.message, nowMs]
    // Not waited for: the size is kept while the state is away.
    found(stored, words).catch((error: unknown) => {
      lastMessageMs = 0
      log.debug('A size was not recorded', { error: messageOf(error) })
    })
  }
}

type SettleDeps = SizeDeps & { readonly writers: Writers }
type MeasuredSize = {
  readonly stored: StoredFiles
  readonly why: WhyFull | undefined
  readonly pace: GrowthPace
  readonly full: Full | undefined
}

/**
 * Ends queries whose temporary files leave no room. The files of generate_series are small beside the rows that it gives
 * to a table. So sessions that write read other words where the tables have grown by more than the files meanwhile.
 */
async function endTemporary(
  deps: SettleDeps,
  {
    stored,
    full,
    grownBytes,
  }: { readonly stored: StoredFiles; readonly full: Full | undefined; readonly grownBytes: number },
): Promise<void> {
  const { temporaryBytes, temporaryPids } = stored
  const room = roomOf(deps, stored, full === undefined ? 1 : OVER_MAX)
  if (temporaryBytes <= Math.max(0, room)) return
  const readers = temporaryWords(deps)
  const ofTables = full === undefined ? aheadWords(deps, stored) : fullWords(full.why, deps)
  const writers = grownBytes > temporaryBytes ? ofTables : readers
  await deps.writers.endQueries({ readers, writers }, temporaryPids)
}

async function whileOpen(
  deps: SettleDeps,
  { stored, why, pace }: MeasuredSize,
): Promise<Full | undefined> {
  const { writers } = deps
  if (why !== undefined) {
    const words = fullWords(why, deps)
    await writers.end(words)
    await writers.readOnly('on')
    // Those that began before the setting was read.
    await writers.end(words)
    return fullSince(why, stored.bytes)
  }
  // Their transactions are undone, so that the database is not full, mostly.
  if (roomOf(deps, stored, 1) <= pace.aheadBytes) await writers.end(aheadWords(deps, stored))
  return undefined
}

async function whileFull(
  deps: SettleDeps,
  { stored, why, pace, full = fullSince('size', Infinity) }: MeasuredSize,
): Promise<Full | undefined> {
  const { writers } = deps
  if (why === undefined) {
    await writers.readOnly('off')
    return undefined
  }
  const growth = Math.max(GROWTH_MIN_BYTES, full.least * GROWTH_PART)
  if (stored.bytes <= full.least + growth)
    return { ...full, least: Math.min(full.least, stored.bytes) }
  const words = fullWords(full.why, deps)
  const grown = fullSince(full.why, stored.bytes)
  // A session that begins to make room must not be ended for pages that another one left.
  if ((await writers.end(words, pace.sinceMs)) > 0) return grown
  const unexplainedBytes = full.unexplainedBytes + stored.bytes - full.least
  if (full.unexplained >= UNEXPLAINED_MAX || unexplainedBytes > UNEXPLAINED_MAX_BYTES)
    deps.cut(words)
  return { ...grown, unexplained: full.unexplained + 1, unexplainedBytes }
}

/** True where the database became full in an earlier life of its server. */
function isReadOnly(data: string): boolean {
  try {
    const text = readFileSync(join(data, 'postgresql.auto.conf'), 'utf8')
    return /^default_transaction_read_only = 'on'$/m.test(text)
  } catch {
    return false
  }
}
