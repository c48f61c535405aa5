// Events of a processor that cannot be applied: the reading goes on past them, and each is tried again by itself.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'
import type { PaymentAdapter, ProcessorEvent } from './adapter.ts'
import { applyFacts } from './start-payment.ts'

const BATCH = 50

type Deps = {
  readonly state: Queryable
  readonly adapter: PaymentAdapter
  readonly log: Logger
}

/** Writes down an event that could not be applied. Throws `error` where the state is away: it says nothing of the event. */
export async function noteFailing(
  { state, adapter, log }: Deps,
  { id, at }: ProcessorEvent,
  error: unknown,
): Promise<void> {
  if (isStateAway(error)) throw error
  log.warn('An event of the payment processor could not be applied', { id, error })
  await state.query(
    `insert into payment_failing_events (processor, id, at, since, tried_at)
     values ($1, $2, $3, ledger_now(), ledger_now()) on conflict do nothing`,
    [adapter.name, id, at],
  )
}

/**
 * Asks again for the events that failed before, those tried longest ago first. One that fails again raises an alarm; then
 * the first failure is thrown.
 */
export async function retryEvents(deps: Deps, signal: AbortSignal): Promise<void> {
  const { state, adapter } = deps
  const { rows } = await state.query<{ id: string }>(
    'select id from payment_failing_events where processor = $1 order by tried_at, id limit $2',
    [adapter.name, BATCH],
  )
  let failed: { readonly error: unknown } | undefined
  for (const { id } of rows) {
    if (signal.aborted) break
    try {
      await applyFacts(state, adapter.name, await adapter.event(id))
      await state.query('delete from payment_failing_events where processor = $1 and id = $2', [
        adapter.name,
        id,
      ])
    } catch (error) {
      if (isStateAway(error)) throw error
      failed ??= { error }
      await tellFailing(deps, id, error)
    }
  }
  if (failed !== undefined) throw failed.error
  signal.throwIfAborted()
}

async function tellFailing({ state, adapter }: Deps, id: string, error: unknown): Promise<void> {
  await state.query(
    `with tried as (update payment_failing_events set tried_at = ledger_now()
       where processor = $1 and id = $2 returning at, since)
     select raise_alarm('payment_event_failing', jsonb_build_object('processor', $1::text, 'event', $2::text, 'at', at,
       'since', since, 'reason', $3::text), $1 || ':' || $2) from tried`,
    [adapter.name, id, messageOf(error)],
  )
}
