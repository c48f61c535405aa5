// Keeps a database within its size while its server runs: at the limit its writers are ended and its transactions are
// read-only by default, until there is room again. An owner who deletes writes on purpose (`begin read write`); a
// session that makes the database grow then is ended.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { FatalError } from '#databases/proxy/wire.ts'
import type { State } from '#state/connect.ts'
import { readStored, type Stored } from './stored.ts'

export type SizeDeps = {
  /** The folder of the cluster. */
  readonly folder: string
  readonly log: Logger
  /** Opens a connection as the superuser. */
  readonly connect: () => State
  readonly sizeBytes: () => number
  /** Bytes that databases may still take of the disk. */
  readonly spaceBytes: () => number
  /** Ends sessions with words: those of these backends, or all. */
  readonly cut: (fatal: FatalError, pids?: readonly number[]) => void
  /** Told at the first measurement, when the database becomes full or has room again, and every 10 s. */
  readonly found: (stored: Stored, full: FatalError | undefined) => Promise<void>
}

/**
 * Twice the fastest writer: on two cores 819 MB took 1.65 s by CREATE UNLOGGED TABLE AS (495 MB/s), 2.25 s by CREATE
 * TABLE AS and 8.3 s by COPY. So half of the room is left at the next measurement.
 */
const BYTES_PER_MS = 1_000_000
/** Near the limit: while the database grows, and else. */
const REST_MIN_MS = 5
const REST_QUIET_MS = 25
const REST_MAX_MS = 2000
/** Measurements take at most a sixth of the time: while a database with many tables grows near its limit. */
const REST_PER_MEASUREMENT = 5
/**
 * Before the limit by so much a connection is opened. A login at the limit let a writer reach 77 MB of 64, instead of
 * 68.
 */
const NEAR_MS = 500
/** From a measurement to the end of a writer: what is written meanwhile counts above ROOM_AGAIN already. */
const REACTION_MS = 20
/** A full database has room again below this part of its size. */
const ROOM_AGAIN = 0.95
/** Above its size by so much at most. */
const OVER_MAX = 1.05
/** The maps of free space grow while rows are deleted. */
const GROWTH_MIN_BYTES = 1_048_576
const GROWTH_PART = 0.001
const FOUND_MS = 10_000
/** A backend without a client has ended by itself before that, mostly. */
const TERMINATE_MS = 200
const WRITERS = `select pid, xact_start < clock_timestamp() - $1 * interval '1 ms' as is_old
  from pg_stat_activity
  where backend_xid is not null and backend_type = 'client backend' and usename <> current_user`
/** Measurements that grow without a writer; then all sessions are ended (NOTIFY grows so). */
const UNEXPLAINED_MAX = 20
const MIB = 1_048_576

/** The last message for a writer. */
function fullMessage({ sizeBytes, spaceBytes }: SizeDeps): FatalError {
  if (spaceBytes() <= 0)
    return {
      code: '53100',
      message: 'the disk of the node is full',
      hint: 'Try again later, or ask the operator. The database can be read meanwhile.',
    }
  return {
    code: '53100',
    message: `the database is full: its size is ${Math.round(sizeBytes() / MIB)} MiB`,
    hint: 'Make room (begin read write; then delete and vacuum, truncate or drop), or: ergon db resize',
  }
}

const temporaryMessage = (sizeBytes: number): FatalError => ({
  code: '53100',
  message: `the temporary files of the query leave no room in the database of ${Math.round(sizeBytes / MIB)} MiB`,
  hint: 'Sort or join less at once, add an index, or: ergon db resize',
})

/** Works until the signal aborts. Never rejects. */
export async function keepSize(deps: SizeDeps, signal: AbortSignal): Promise<void> {
  const data = join(deps.folder, 'data')
  await using server = serverOf(deps.connect)
  /** The least that was stored since the database is full; undefined while there is room. */
  let least = isReadOnly(data) ? Infinity : undefined
  let before = Infinity
  let beforeMs = 0
  let told: boolean | undefined
  let toldMs = 0
  while (!signal.aborted) {
    const begunMs = performance.now()
    let restMs = REST_MAX_MS
    try {
      const stored = readStored(data)
      const tookMs = performance.now() - begunMs
      const room = roomOf(deps, stored, 1)
      if (stored.bytes > before && room < NEAR_MS * BYTES_PER_MS) server.warm()
      const sinceMs = begunMs - beforeMs
      const rate = Math.max(0, stored.bytes - before) / sinceMs
      ;[before, beforeMs] = [stored.bytes, begunMs]
      const isNear = stored.bytes > deps.sizeBytes() * (ROOM_AGAIN + 0.01)
      const ahead = isNear ? rate * REACTION_MS : 0
      const soon = { ...stored, bytes: stored.bytes + ahead }
      least = await settle({ ...deps, server, sinceMs }, soon, least)
      const isFull = least !== undefined
      if (isFull !== told || begunMs - toldMs > FOUND_MS) {
        ;[told, toldMs] = [isFull, begunMs]
        // Not waited for: the size is kept while the state is away.
        deps.found(stored, isFull ? fullMessage(deps) : undefined).catch((error: unknown) => {
          toldMs = 0
          deps.log.debug('A size was not recorded', { error: messageOf(error) })
        })
      }
      restMs = restAfter(roomOf(deps, stored, isFull ? OVER_MAX : 1), tookMs, rate > 0)
    } catch (error) {
      if (signal.aborted) return
      deps.log.warn('The size of a database could not be kept', { error: messageOf(error) })
    }
    await sleep(restMs, signal).catch(() => undefined)
  }
}

const restAfter = (room: number, tookMs: number, isGrowing: boolean): number =>
  Math.min(
    REST_MAX_MS,
    Math.max(
      isGrowing ? REST_MIN_MS : REST_QUIET_MS,
      room / BYTES_PER_MS,
      tookMs * REST_PER_MEASUREMENT,
    ),
  )

/** Bytes that may still be written. */
const roomOf = ({ sizeBytes, spaceBytes }: SizeDeps, { bytes }: Stored, part: number): number =>
  Math.min(sizeBytes() * part - bytes, spaceBytes())

/** Acts on one measurement; resolves with the least that was stored since the database is full. */
async function settle(
  deps: SettleDeps,
  stored: Stored,
  least: number | undefined,
): Promise<number | undefined> {
  const { server, cut, sizeBytes, spaceBytes } = deps
  const room = roomOf(deps, stored, 1)
  const fatal = fullMessage(deps)
  const roomForQueries = roomOf(deps, stored, least === undefined ? 1 : OVER_MAX)
  if (stored.temporaryBytes > Math.max(0, roomForQueries))
    await endQueries(deps, stored.temporaryPids)
  if (least === undefined) {
    if (room <= 0) {
      server.isDiskFull = spaceBytes() <= 0
      await endWriters(deps, fatal)
      await readOnly(server.open(), 'on')
      // Those that began before the setting was read.
      await endWriters(deps, fatal)
      return stored.bytes
    }
    return undefined
  }
  const enough = sizeBytes() * (server.isDiskFull ? 1 : ROOM_AGAIN)
  if (stored.bytes < enough && spaceBytes() > 0) {
    await readOnly(server.open(), 'off')
    return undefined
  }
  const growth = Math.max(GROWTH_MIN_BYTES, least * GROWTH_PART)
  if (stored.bytes <= least + growth) return Math.min(least, stored.bytes)
  // A session that begins to make room must not be ended for pages that another one left.
  if ((await endWriters(deps, fatal, deps.sinceMs)) > 0) deps.server.unexplained = 0
  else if (++deps.server.unexplained > UNEXPLAINED_MAX) cut(fatal)
  return stored.bytes
}

/** Ends the sessions whose queries wrote temporary files. */
async function endQueries(
  { server, cut, sizeBytes }: SettleDeps,
  temporaryPids: readonly number[],
): Promise<void> {
  const { rows } = await server
    .open()
    .query<{ pid: number }>(
      'select distinct coalesce(leader_pid, pid) as pid from pg_stat_activity where pid = any ($1)',
      [temporaryPids],
    )
  const pids = rows.map(({ pid }) => pid)
  cut(temporaryMessage(sizeBytes()), pids)
}

/**
 * Ends the sessions that write, but those whose transactions are younger than `leastMs`. While a session that was ended
 * earlier still writes, the growth is its own. Resolves with the number of the writers.
 */
async function endWriters(
  { server, cut }: SettleDeps,
  fatal: FatalError,
  leastMs = 0,
): Promise<number> {
  const state = server.open()
  const { rows } = await state.query<{ pid: number; is_old: boolean }>(WRITERS, [leastMs])
  if (rows.some(({ pid }) => server.ending.has(pid))) return rows.length
  const pids = rows.filter((row) => row.is_old).map(({ pid }) => pid)
  server.ending = new Set(pids)
  if (pids.length === 0) return 0
  cut(fatal, pids)
  setTimeout(() => {
    state
      .query(`select pg_terminate_backend(pid) from (${WRITERS}) w where pid = any ($2)`, [0, pids])
      .catch(() => undefined)
  }, TERMINATE_MS).unref()
  return pids.length
}

/** For sessions and transactions from now on; a session may choose otherwise. */
async function readOnly(state: State, value: 'on' | 'off'): Promise<void> {
  await state.query(`alter system set default_transaction_read_only = ${value}`)
  await state.query('select pg_reload_conf()')
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

/** The superuser's connection, and what is known of the server. */
type Server = {
  open(): State
  /** Opens the connection ahead of its use. */
  warm(): void
  /** Backends that were ended, until they are gone. */
  ending: ReadonlySet<number>
  unexplained: number
  /** The disk of the node was full, not the database. */
  isDiskFull: boolean
  [Symbol.asyncDispose](): Promise<void>
}

type SettleDeps = SizeDeps & {
  readonly server: Server
  /** Since the measurement before. */
  readonly sinceMs: number
}

function serverOf(connect: () => State): Server {
  let state: State | undefined
  const open = () => (state ??= connect())
  return {
    ending: new Set(),
    unexplained: 0,
    isDiskFull: false,
    open,
    warm() {
      if (state !== undefined) return
      open()
        .query('select 1')
        .catch(() => undefined)
    },
    async [Symbol.asyncDispose]() {
      await state?.[Symbol.asyncDispose]()
    },
  }
}
