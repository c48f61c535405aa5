// One call to a processor for each of some payments: where it fails, the others are made all the same.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

/** Time of failing calls of a payment or refund that raises an alarm. */
const STUCK_S = 3600

/** The order of due calls: calls that failed come last, by turns, and hold up no later one. Else by `since`. */
export const turn = (id: string, since: string) =>
  `(select f.failed_at from payment_failing_calls f where f.id = ${id}) nulls first, ${since}`

type Batch<R> = {
  readonly rows: readonly R[]
  readonly state: Queryable
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Failures of the processor are logged, and the payment stays due; others are thrown, as the state's are. */
export async function forEachPayment<R extends { readonly id: string }>(
  { rows, state, log, signal }: Batch<R>,
  call: (row: R) => Promise<unknown>,
): Promise<void> {
  for (const row of rows) {
    signal.throwIfAborted()
    try {
      await call(row)
      await state.query('delete from payment_failing_calls where id = $1', [row.id])
    } catch (error) {
      if (!(error instanceof ErgonError) || error.code !== 'payment_processor_away') throw error
      log.warn('A payment could not be carried on', { id: row.id, error })
      await recordFailure(state, row.id, error.message)
    }
  }
}

async function recordFailure(state: Queryable, id: string, reason: string): Promise<void> {
  await state.query(
    `insert into payment_failing_calls (id, since, failed_at) values ($1, ledger_now(), ledger_now())
     on conflict (id) do update set failed_at = excluded.failed_at`,
    [id],
  )
  await state.query(
    `select raise_alarm('payment_stuck', jsonb_build_object('payment', id, 'since', since, 'reason', $2::text), id)
     from payment_failing_calls where id = $1 and since < ledger_now() - interval '${STUCK_S} seconds'`,
    [id, reason],
  )
}
