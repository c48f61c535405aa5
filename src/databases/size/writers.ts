// The sessions that write in the server of a database, found and ended by the superuser.
import type { FatalError } from '#wire/messages.ts'
import { sleep } from '#base/clock.ts'
import type { State } from '#state/connect.ts'
import { createDrop } from './drop.ts'

type QueryWords = { readonly readers: FatalError; readonly writers: FatalError }

export interface Writers {
  /** Opens the connection ahead of its use, and keeps it open while this is called again. */
  warm(): void
  /**
   * Ends the sessions that write, but those whose transactions are younger than `leastMs`. While a session that was
   * ended earlier still writes, the growth is its own. Resolves with the number of the writers.
   */
  end(fatal: FatalError, leastMs?: number): Promise<number>
  /**
   * Ends the sessions of these backends, and those that parallel workers among them work for: those whose transactions
   * have written with words of their own.
   */
  endQueries(words: QueryWords, pids: readonly number[]): Promise<void>
  /**
   * Has the server drop messages of NOTIFY that each listener has read, and long texts of queries. Ends the sessions whose
   * transactions may keep messages.
   */
  drop(fatal: FatalError): Promise<void>
  /** For sessions and transactions from now on; a session may choose otherwise. */
  readOnly(value: 'on' | 'off'): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The proxy has the words by then, and reads them before the server's message. Its cancel request is not waited for:
 * the server starts a process for that, which took up to 200 ms to begin on a busy machine, and the writer went on.
 */
const TERMINATE_MS = 2
/** A session that still writes so long after its end is ended again: the server may not have heard of the first time. */
const AGAIN_MS = 1000
/** Less than the time after which a connection without use is closed. */
const WARM_MS = 30_000
/** Below pg_stat_activity: the view joins databases and roles, and its plan took longer than its rows. */
const WRITERS = `select pid, xact_start < clock_timestamp() - $1 * interval '1 ms' as is_old
  from pg_stat_get_activity(null)
  where backend_xid is not null and backend_type = 'client backend' and usesysid <> current_user::regrole`

/** The sessions of backends and of parallel workers. */
const LEADERS = `select pid, backend_xid is not null as writes from pg_stat_activity
  where pid in (select coalesce(leader_pid, pid) from pg_stat_activity where pid = any ($1))`

export type WritersDeps = {
  /** Opens a connection as the superuser. */
  readonly connect: () => State
  /** Ends the sessions of these backends with words. */
  readonly cut: (fatal: FatalError, pids: readonly number[]) => void
  /** Stops the sessions of customers where they are, until the disposal. */
  readonly hold: () => Disposable
  readonly nowMs?: () => number
}

export function createWriters({
  connect,
  cut,
  hold,
  nowMs = () => performance.now(),
}: WritersDeps): Writers {
  let state: State | undefined
  /** Backends that were ended, until they are gone. */
  let ending: ReadonlySet<number> = new Set()
  let endedMs = 0
  let warmedMs = -WARM_MS
  const drop = createDrop(cut, nowMs)
  const open = () => (state ??= connect())
  const terminate = (pids: readonly number[]) =>
    open()
      .query(`select pg_terminate_backend(pid) from (${WRITERS}) w where pid = any ($2)`, [0, pids])
      .catch(() => undefined)
  return {
    warm() {
      if (nowMs() - warmedMs < WARM_MS) return
      warmedMs = nowMs()
      open()
        .query(WRITERS, [0])
        .catch(() => undefined)
    },
    async end(fatal, leastMs = 0) {
      // Else they write on while they are looked for: with a slowed server for up to 300 ms.
      using _held = hold()
      const { rows } = await open().query<{ pid: number; is_old: boolean }>(WRITERS, [leastMs])
      if (rows.some(({ pid }) => ending.has(pid))) {
        if (nowMs() - endedMs > AGAIN_MS) {
          endedMs = nowMs()
          await terminate([...ending])
        }
        return rows.length
      }
      const pids = rows.filter((row) => row.is_old).map(({ pid }) => pid)
      ending = new Set(pids)
      endedMs = nowMs()
      if (pids.length === 0) return 0
      cut(fatal, pids)
      await sleep(TERMINATE_MS)
      await terminate(pids)
      return pids.length
    },
    async endQueries(words, pids) {
      const { rows } = await open().query<{ pid: number; writes: boolean }>(LEADERS, [pids])
      for (const kind of ['readers', 'writers'] as const) {
        const ended = rows.filter(({ writes }) => writes === (kind === 'writers'))
        if (ended.length > 0)
          cut(
            words[kind],
            ended.map(({ pid }) => pid),
          )
      }
    },
    drop: (fatal) => drop(open(), fatal),
    async readOnly(value) {
      await open().query(`alter system set default_transaction_read_only = ${value}`)
      await open().query('select pg_reload_conf()')
    },
    async [Symbol.asyncDispose]() {
      await state?.[Symbol.asyncDispose]()
    },
  }
}
