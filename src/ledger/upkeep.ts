// What the books need each minute: promises that ran out are voided, lots expire, changes that all have seen
// are forgotten, old windows are packed and go, and the sums are checked. Any number of processes may do it at once.
import { type Clock, sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

const EVERY_MS = 60_000
/** The first round waits until the sealer has begun, and has a connection for it. */
const FIRST_MS = 1000
// Of one round; what is over waits a minute.
const PENDING_MAX = 200
const ROUNDS_MAX = 20
/** Rows that are forgotten. */
const WINDOWS_MAX = 10_000
/** Two hours of windows of each meter are packed in a round: 0.4 s of PostgreSQL. Of a year that is four days. */
const STRETCHES_MAX = 24
const DAY_S = 86_400

// Changes that every open session has acted on. The newest one stays, since sessions begin at it; an hour is
// longer than any transaction that has read the newest one and is not seen yet.
const FORGET_CHANGES = `
  delete from credential_changes where epoch in (
    select epoch from credential_changes
    where epoch < (select max(epoch) from credential_changes)
      and epoch <= (select coalesce(min(epoch), 9223372036854775807) from sessions where closed_at is null)
      and at < ledger_now() - interval '1 hour'
    order by epoch limit $1)`
const CHANGES_MAX = 10_000

export type BookFault = { readonly invariant: string; readonly detail: string }

export interface Upkeep {
  /** One round; the broken invariants, of which any stops paid admission. */
  once(): Promise<readonly BookFault[]>
  /** A round each minute until the signal aborts. A round that fails is logged and tried again. */
  run(signal: AbortSignal): Promise<void>
}

/** `windowsDays`: for how long windows of the meter are kept; 0 for ever. */
export function createUpkeep(deps: {
  state: Queryable
  clock: Clock
  log: Logger
  windowsDays: number
}): Upkeep {
  const { state, clock, log, windowsDays } = deps

  async function once(): Promise<readonly BookFault[]> {
    const overdue = await state.query<{ id: string }>(
      `select id from pending_credits where state = 'pending' and expires_at <= ledger_now()
       order by expires_at limit ${PENDING_MAX}`,
    )
    for (const { id } of overdue.rows) await state.query('select void_pending($1)', [id])
    await expire()
    await state.query(FORGET_CHANGES, [CHANGES_MAX])
    const { rows } = await state.query<{ faults: BookFault[] }>('select reconcile() as faults')
    const faults = rows[0]?.faults ?? []
    if (faults.length > 0)
      log.error('The books do not add up: nothing paid is admitted', { faults })
    await thinWindows()
    return faults
  }

  async function thinWindows(): Promise<void> {
    const nowS = Math.floor(clock.wallMs() / 1000)
    if (windowsDays > 0)
      await state.query('select forget_windows($1, $2)', [nowS - windowsDays * DAY_S, WINDOWS_MAX])
    await state.query('select pack_windows($1, $2)', [nowS - DAY_S, STRETCHES_MAX])
  }

  async function expire(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const { rows } = await state.query<{ wallets: string }>('select expire_lots() as wallets')
      if (rows[0]?.wallets === '0') return
    }
  }

  return {
    once,
    async run(signal) {
      await sleep(FIRST_MS, signal).catch(() => undefined)
      while (!signal.aborted) {
        await once().catch((error: unknown) =>
          log.warn('The books could not be kept', { error: messageOf(error) }),
        )
        await sleep(EVERY_MS, signal).catch(() => undefined)
      }
    },
  }
}
