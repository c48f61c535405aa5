// Files of a server that it can drop: messages of NOTIFY, and texts of queries. Roles that only read make them too.
import { sleep } from '#base/clock.ts'
import { dropTexts } from '#databases/server/statements.ts'
import type { Queryable } from '#state/connect.ts'
import type { FatalError } from '#wire/messages.ts'

/** So many bytes of unread messages, or of texts, fill a small database. */
export const DROPPED_MIN_BYTES = 16_000_000
/** pg_notification_queue_usage() is a part of so much. It removes the messages first that everybody has read. */
const QUEUE_BYTES = 8 * 1024 ** 3
const UNREAD = `select pg_notification_queue_usage() * ${QUEUE_BYTES} > ${DROPPED_MIN_BYTES} as is_long`
/**
 * A session reads its messages outside of transactions. One that begins a transaction with each end of another reads none,
 * and PostgreSQL tells nobody who listens.
 */
const IN_TRANSACTION = `select pid from pg_stat_get_activity(null)
  where xact_start < clock_timestamp() - $1 * interval '1 ms' and backend_type = 'client backend'
    and usesysid <> current_user::regrole`
const OLD_MS = 2000
/** Messages that are left so long after old transactions were ended: all transactions are. */
const LEFT_MS = 5000
/** Other messages are left behind a time without a check. A busy machine checks seldom. */
const OTHERS_MS = 60_000
/** The proxy has the words by then. */
const TERMINATE_MS = 2

type Cut = (fatal: FatalError, pids: readonly number[]) => void

/** Ends the sessions whose transactions may keep messages. Messages that nobody has to read go first. */
export function createDrop(cut: Cut, nowMs: () => number) {
  /** Since then messages are left, at each check. There is no check where little can be dropped. */
  let sinceMs = -Infinity
  let checkedMs = -Infinity
  return async (server: Queryable, fatal: FatalError): Promise<void> => {
    // The first reading of the statements makes the function.
    await server.query(dropTexts(DROPPED_MIN_BYTES)).catch(() => undefined)
    const [unread] = (await server.query<{ is_long: boolean }>(UNREAD)).rows
    if (unread?.is_long !== true) return
    if (nowMs() - checkedMs > OTHERS_MS) sinceMs = nowMs()
    checkedMs = nowMs()
    const leastMs = nowMs() - sinceMs > LEFT_MS ? 0 : OLD_MS
    const { rows } = await server.query<{ pid: number }>(IN_TRANSACTION, [leastMs])
    const pids = rows.map(({ pid }) => pid)
    if (pids.length > 0) cut(fatal, pids)
    await sleep(TERMINATE_MS)
    await server.query(
      `select pg_terminate_backend(pid) from (${IN_TRANSACTION}) t where pid = any ($2)`,
      [leastMs, pids],
    )
    await server.query(UNREAD)
  }
}
