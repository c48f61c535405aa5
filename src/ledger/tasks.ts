// The background tasks of the ledger. Books: overdue promises are voided, lots expire, credential changes that all
// sessions have seen are forgotten, and the sums are checked. Windows: old ones are rolled up, the oldest forgotten.
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { Tasks } from '#tasks/task.ts'
import { auditCharges } from './audit.ts'

const EVERY_MS = 60_000
const ATTEMPTS = 5
const TIMEOUT_MS = 300_000
// The most of one run; the rest waits a minute.
const PENDING_MAX = 200
const ROUNDS_MAX = 20
/** Rows that are forgotten. */
const WINDOWS_MAX = 10_000
/** Two hours of windows of each meter are rolled up in a round: 0.4 s of PostgreSQL. Of a year that is four days. */
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

type Deps = {
  readonly state: Queryable
  readonly clock: Clock
  readonly log: Logger
  /** For how long windows of the meter are kept; 0 for ever. */
  readonly windowsDays: number
}

/** The background half of the ledger (`TasksProduct`, which is above this folder). */
export const LEDGER_TASKS = {
  name: 'ledger',
  // It reads the charges of requests.
  isCaused: true as const,
  open: (core: Omit<Deps, 'windowsDays'>, { windowsDays }: Pick<Deps, 'windowsDays'>) => ({
    tasks: ledgerTasks({ ...core, windowsDays }),
    run: (signal: AbortSignal) => auditCharges(core, signal),
  }),
}

function ledgerTasks(deps: Deps): Tasks {
  const limits = { everyMs: EVERY_MS, attempts: ATTEMPTS, timeoutMs: TIMEOUT_MS }
  return {
    'ledger.books': { ...limits, run: async () => void (await keepBooks(deps)) },
    'ledger.windows': { ...limits, run: () => thinWindows(deps) },
  }
}

/** One run; the broken invariants, any of which stops paid admission. */
export async function keepBooks({
  state,
  log,
}: Omit<Deps, 'windowsDays' | 'clock'>): Promise<readonly BookFault[]> {
  const overdue = await state.query<{ id: string }>(
    `select id from pending_credits where state = 'pending' and expires_at <= ledger_now()
       order by expires_at limit ${PENDING_MAX}`,
  )
  for (const { id } of overdue.rows) await state.query('select void_pending($1)', [id])
  await expire(state)
  await state.query(FORGET_CHANGES, [CHANGES_MAX])
  const { rows } = await state.query<{ faults: BookFault[] }>('select reconcile() as faults')
  const faults = rows[0]?.faults ?? []
  if (faults.length > 0) log.error('The books do not add up: nothing paid is admitted', { faults })
  return faults
}

export async function thinWindows({ state, clock, windowsDays }: Omit<Deps, 'log'>): Promise<void> {
  const nowS = Math.floor(clock.wallMs() / 1000)
  if (windowsDays > 0)
    await state.query('select forget_windows($1, $2)', [nowS - windowsDays * DAY_S, WINDOWS_MAX])
  await state.query('select roll_up_windows($1, $2)', [nowS - DAY_S, STRETCHES_MAX])
}

async function expire(state: Queryable): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { rows } = await state.query<{ wallets: string }>('select expire_lots() as wallets')
    if (rows[0]?.wallets === '0') return
  }
}
