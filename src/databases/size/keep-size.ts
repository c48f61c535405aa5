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
  readonly found: (stored: Stored, isFull: boolean) => Promise<void>
}

/** No writer is faster: with two cores PostgreSQL wrote 130 MB/s here by COPY, 380 MB/s by CREATE TABLE AS. */
const BYTES_PER_MS = 400_000
/** Near the limit: while the database grows, and else. */
const REST_MIN_MS = 5
const REST_QUIET_MS = 25
const REST_MAX_MS = 2000
/** Measurements take at most a sixth of the time: while a database with many tables grows near its limit. */
const REST_PER_MEASUREMENT = 5
/** Before the limit by so much a connection is opened: a login takes 50 ms. */
const NEAR_MS = 500
/** From a measurement to the end of a writer: what is written meanwhile counts already. */
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
const WRITERS = `select pid from pg_stat_activity
  where backend_xid is not null and backend_type = 'client backend' and usename <> current_user`
const MIB = 1_048_576

/** The last message for a writer. */
export const fullMessage = (sizeBytes: number): FatalError => ({
  code: '53100',
  message: `the database is full: its size is ${Math.round(sizeBytes / MIB)} MiB`,
  hint: 'Make room (begin read write; then delete and vacuum, truncate or drop), or: ergon db resize',
})

const temporaryMessage = (sizeBytes: number): FatalError => ({
  code: '53100',
  message: `the temporary files of the query leave no room in the database of ${Math.round(sizeBytes / MIB)} MiB`,
  hint: 'Sort or join less at once, add an index, or: ergon db resize',
})

/** Works until the signal aborts. Never rejects. */
export async function keepSize(deps: SizeDeps, signal: AbortSignal): Promise<void> {
  const data = join(deps.folder, 'data')
  await using server = lazily(deps.connect)
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
      if (stored.bytes > before && room < NEAR_MS * BYTES_PER_MS)
        server
          .open()
          .query('select 1')
          .catch(() => undefined)
      const rate = Math.max(0, stored.bytes - before) / (begunMs - beforeMs)
      ;[before, beforeMs] = [stored.bytes, begunMs]
      const soon = { ...stored, bytes: stored.bytes + rate * REACTION_MS }
      least = await settle({ ...deps, server }, soon, least)
      const isFull = least !== undefined
      if (isFull !== told || begunMs - toldMs > FOUND_MS) {
        await deps.found(stored, isFull)
        ;[told, toldMs] = [isFull, begunMs]
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
  deps: SizeDeps & { readonly server: Lazily },
  stored: Stored,
  least: number | undefined,
): Promise<number | undefined> {
  const { server, cut, sizeBytes, spaceBytes } = deps
  const room = roomOf(deps, stored, 1)
  const fatal = fullMessage(sizeBytes())
  if (stored.temporaryBytes > roomOf(deps, stored, least === undefined ? 1 : OVER_MAX))
    await endQueries(deps, stored.temporaryPids)
  if (least === undefined) {
    if (room <= 0) {
      await endWriters(deps, fatal)
      await readOnly(server.open(), 'on')
      // Those that began before the setting was read.
      await endWriters(deps, fatal)
      return stored.bytes
    }
    return undefined
  }
  if (stored.bytes < sizeBytes() * ROOM_AGAIN && spaceBytes() > 0) {
    await readOnly(server.open(), 'off')
    return undefined
  }
  const growth = Math.max(GROWTH_MIN_BYTES, least * GROWTH_PART)
  if (stored.bytes <= least + growth) return Math.min(least, stored.bytes)
  if ((await endWriters(deps, fatal)) === 0) cut(fatal)
  // The pages of the ended transaction stay: a session that makes room must not be ended for them.
  return stored.bytes
}

/** Ends the sessions whose queries wrote temporary files. */
async function endQueries(
  { server, cut, sizeBytes }: SizeDeps & { readonly server: Lazily },
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

/** Resolves with the number of the writers. */
async function endWriters(
  { server, cut }: SizeDeps & { readonly server: Lazily },
  fatal: FatalError,
): Promise<number> {
  const state = server.open()
  const { rows } = await state.query<{ pid: number }>(WRITERS)
  if (rows.length === 0) return 0
  const pids = rows.map(({ pid }) => pid)
  cut(fatal, pids)
  setTimeout(() => {
    state
      .query(`select pg_terminate_backend(pid) from (${WRITERS}) w where pid = any ($1)`, [pids])
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

type Lazily = { open(): State; [Symbol.asyncDispose](): Promise<void> }

function lazily(connect: () => State): Lazily {
  let state: State | undefined
  return {
    open: () => (state ??= connect()),
    async [Symbol.asyncDispose]() {
      await state?.[Symbol.asyncDispose]()
    },
  }
}
