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
import { fullWords, temporaryWords, whyFull, type SizeLimits, type WhyFull } from './full-words.ts'
import type { Stored, StoredReader } from './stored.ts'
import { createWriters, type Writers } from './writers.ts'

export type SizeDeps = SizeLimits & {
  /** The folder of the cluster. */
  readonly folder: string
  readonly log: Logger
  readonly read: StoredReader
  /** Opens a connection as the superuser. */
  readonly connect: () => State
  /** Ends sessions with words: those of these backends, or all. */
  readonly cut: (fatal: FatalError, pids?: readonly number[]) => void
  /** Told at the first measurement, when the database becomes full or has room again, and every 10 s. */
  readonly found: (stored: Stored, full: FatalError | undefined) => Promise<void>
}

/**
 * Twice the fastest writer: CREATE UNLOGGED TABLE AS wrote 1.2 GB/s on an idle processor. So half of the room is left
 * at the next measurement.
 */
const BYTES_PER_MS = 2_500_000
/** Near the limit: while the database grows, and else. */
const REST_MIN_MS = 5
const REST_QUIET_MS = 25
const REST_MAX_MS = 2000
/** Measurements take at most a sixth of the time: while a database with many tables grows near its limit. */
const REST_PER_MEASUREMENT = 5
/** Before the limit by so much a connection is opened: a login at the limit would leave a writer 15 ms more. */
const NEAR_MS = 200
/** From a measurement to the next one, and from there to the end of a writer. */
const REACTION_MS = 16
/** The server enlarges files by up to 512 KB at once: a slow writer does so now and then. */
const STEP_BYTES = 1_048_576
/** A full database has room again below this part of its size. */
const ROOM_AGAIN = 0.95
/** Above its size by so much at most. */
const OVER_MAX = 1.05
/** The maps of free space grow while rows are deleted. */
const GROWTH_MIN_BYTES = 1_048_576
const GROWTH_PART = 0.001
const FOUND_MS = 10_000
/** Measurements that grow without a writer; then all sessions are ended (NOTIFY grows so). */
const UNEXPLAINED_MAX = 20

/** A database that is full. */
type Full = {
  readonly why: WhyFull
  /** The least that was stored since then. */
  readonly least: number
  /** Measurements that grew without a writer. */
  readonly unexplained: number
}

/** Works until the signal aborts. Never rejects. */
export async function keepSize(deps: SizeDeps, signal: AbortSignal): Promise<void> {
  const data = join(deps.folder, 'data')
  await using writers = createWriters(deps.connect, deps.cut)
  const tell = createTeller(deps)
  const paceOf = createPace()
  let full = isReadOnly(data) ? fullSince('size', Infinity) : undefined
  while (!signal.aborted) {
    const begunMs = performance.now()
    let restMs = REST_MAX_MS
    try {
      const stored = await deps.read(data, signal)
      const tookMs = performance.now() - begunMs
      const pace = paceOf(stored.bytes, begunMs)
      if (pace.isGrowing && roomOf(deps, stored, 1) < NEAR_MS * BYTES_PER_MS) writers.warm()
      await endTemporary({ ...deps, writers }, stored, full === undefined ? 1 : OVER_MAX)
      const settle = full === undefined ? whileOpen : whileFull
      full = await settle({ ...deps, writers }, { stored, pace, full })
      tell(stored, full && fullWords(full.why, deps))
      const room = roomOf(deps, stored, full === undefined ? 1 : OVER_MAX)
      restMs = restAfter(room, tookMs, pace.isGrowing)
    } catch (error) {
      if (signal.aborted) return
      deps.log.warn('The size of a database could not be kept', { error: messageOf(error) })
    }
    await sleep(restMs, signal).catch(() => undefined)
  }
}

const fullSince = (why: WhyFull, least: number): Full => ({ why, least, unexplained: 0 })

const restAfter = (room: number, tookMs: number, isGrowing: boolean): number =>
  Math.max(
    isGrowing ? REST_MIN_MS : REST_QUIET_MS,
    Math.min(REST_MAX_MS, room / BYTES_PER_MS),
    tookMs * REST_PER_MEASUREMENT,
  )

/** Bytes that may still be written. */
const roomOf = ({ sizeBytes, spaceBytes }: SizeLimits, { bytes }: Stored, part: number): number =>
  Math.min(sizeBytes() * part - bytes, spaceBytes())

/** Tells what was found: at the first time, at a change, and every 10 s. */
function createTeller({ found, log }: SizeDeps) {
  let told: string | undefined | null = null
  let toldMs = 0
  return (stored: Stored, words: FatalError | undefined): void => {
    const nowMs = performance.now()
    if (words?.message === told && nowMs - toldMs <= FOUND_MS) return
    ;[told, toldMs] = [words?.message, nowMs]
    // Not waited for: the size is kept while the state is away.
    found(stored, words).catch((error: unknown) => {
      toldMs = 0
      log.debug('A size was not recorded', { error: messageOf(error) })
    })
  }
}

type GrowthPace = {
  /** Since the measurement before. */
  readonly sinceMs: number
  readonly isGrowing: boolean
  /** Bytes that a writer still writes if it is ended at the next measurement and not now. */
  readonly aheadBytes: number
}

function createPace() {
  let last = { bytes: Infinity, atMs: 0 }
  return (bytes: number, atMs: number): GrowthPace => {
    const sinceMs = atMs - last.atMs
    const growth = bytes - last.bytes
    last = { bytes, atMs }
    const aheadBytes = (Math.max(0, growth - STEP_BYTES) / sinceMs) * REACTION_MS
    return { sinceMs, isGrowing: growth > 0, aheadBytes }
  }
}

type SettleDeps = SizeDeps & { readonly writers: Writers }
type MeasuredSize = {
  readonly stored: Stored
  readonly pace: GrowthPace
  readonly full: Full | undefined
}

/** Ends queries whose temporary files leave no room. */
async function endTemporary(deps: SettleDeps, stored: Stored, part: number): Promise<void> {
  if (stored.temporaryBytes > Math.max(0, roomOf(deps, stored, part)))
    await deps.writers.endQueries(temporaryWords(deps), stored.temporaryPids)
}

async function whileOpen(
  deps: SettleDeps,
  { stored, pace }: MeasuredSize,
): Promise<Full | undefined> {
  const { writers } = deps
  const why = whyFull(deps, stored)
  if (why !== undefined) {
    const words = fullWords(why, deps)
    await writers.end(words)
    await writers.readOnly('on')
    // Those that began before the setting was read.
    await writers.end(words)
    return fullSince(why, stored.bytes)
  }
  // Their transactions are undone, so that the database is not full, mostly.
  if (roomOf(deps, stored, 1) <= pace.aheadBytes) await writers.end(fullWords('size', deps))
  return undefined
}

async function whileFull(
  deps: SettleDeps,
  { stored, pace, full = fullSince('size', Infinity) }: MeasuredSize,
): Promise<Full | undefined> {
  const { writers } = deps
  if (whyFull(deps, stored, { [full.why]: ROOM_AGAIN }) === undefined) {
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
  if (full.unexplained >= UNEXPLAINED_MAX) deps.cut(words)
  return { ...grown, unexplained: full.unexplained + 1 }
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
