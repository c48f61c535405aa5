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
/** A session reads its messages outside of transactions. */
const LISTENERS = `select pid from pg_stat_get_activity(null)
  where xact_start < clock_timestamp() - interval '2 s' and backend_type = 'client backend'
    and usesysid <> current_user::regrole`
/** The proxy has the words by then. */
const TERMINATE_MS = 2

/** Ends the sessions whose transactions keep messages. Messages that nobody has to read go first. */
export async function drop(
  server: Queryable,
  cut: (fatal: FatalError, pids: readonly number[]) => void,
  fatal: FatalError,
): Promise<void> {
  // The first reading of the statements makes the function.
  await server.query(dropTexts(DROPPED_MIN_BYTES)).catch(() => undefined)
  const [unread] = (await server.query<{ is_long: boolean }>(UNREAD)).rows
  if (unread?.is_long !== true) return
  const { rows } = await server.query<{ pid: number }>(LISTENERS)
  const pids = rows.map(({ pid }) => pid)
  cut(fatal, pids)
  await sleep(TERMINATE_MS)
  await server.query(
    `select pg_terminate_backend(pid) from (${LISTENERS}) l where pid = any ($1)`,
    [pids],
  )
  await server.query(UNREAD)
}
