// A reply may reach its caller before its charge reaches the ledger: by one tick. A read of the
// charge must not answer 404 in between.
import { sleep } from '#base/clock.ts'
import type { Queryable } from '#state/connect.ts'

/** Resolves when everything that any gateway answered before this call is in the ledger. */
export type Posted = (signal: AbortSignal) => Promise<void>

const POLL_MS = 15
const WAIT_MS_MAX = 2500

/** `post` posts what this gateway has journaled so far. */
export function createPosted(deps: {
  state: Queryable
  post: (signal: AbortSignal) => Promise<void>
}): Posted {
  return async (signal) => {
    await deps.post(signal)
    await othersPosted(deps.state, signal)
  }
}

/** Until each other session has ticked after now, or has run out. */
async function othersPosted(state: Queryable, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ since: Date; others: string }>(
    `select clock_timestamp() as since, count(*) as others from sessions
     where closed_at is null and until > now() and process like 'gw-%'`,
  )
  const since = rows[0]?.since
  if (Number(rows[0]?.others ?? 0) <= 1) return
  const limit = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS_MAX)])
  for (;;) {
    // A tick sets until to its own time plus 2 s.
    const behind = await state.query<{ count: string }>(
      `select count(*) from sessions where closed_at is null and until > now() and process like 'gw-%'
       and until < $1::timestamptz + interval '2 seconds'`,
      [since],
    )
    if (behind.rows[0]?.count === '0' || limit.aborted) return
    await sleep(POLL_MS, limit).catch(() => undefined)
  }
}
