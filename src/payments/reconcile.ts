// Asks a processor for its events since the last time, so that a lost webhook only delays its fact, and makes calls
// again that a crash cut off.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { applyFacts, startPayment, startRefund } from './start-payment.ts'

/** Asked again: events of a processor may appear late. */
const OVERLAP_S = 3600
/** A call that takes longer has been cut off. */
const CALL_S = 60
/** A payment under way for so long is looked at by itself. */
const QUIET_S = 120
const BATCH = 50
/** Longer than the processor's own memory of its events. */
const FACTS_DAYS = 60

type Deps = {
  readonly state: Queryable
  readonly adapter: PaymentAdapter
  readonly log: Logger
}

export async function reconcilePayments(deps: Deps, signal: AbortSignal): Promise<void> {
  await callAgain(deps)
  await readEvents(deps, signal)
  await lookAtQuiet(deps)
  await deps.state.query(
    `delete from payment_facts where (processor, id) in (select processor, id from payment_facts
       where at < ledger_now() - interval '${FACTS_DAYS} days' order by at limit 10000)`,
  )
}

/** The cursor is the time of the newest event, by the processor's clock: ours may jump. */
async function readEvents({ state, adapter }: Deps, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ at: Date }>(
    'select at from payment_cursors where processor = $1',
    [adapter.name],
  )
  let newestMs = rows[0]?.at.getTime() ?? 0
  const since = new Date(Math.max(0, newestMs - OVERLAP_S * 1000))
  for await (const { at, facts } of adapter.reconcile(since, signal)) {
    await applyFacts(state, adapter.name, facts)
    newestMs = Math.max(newestMs, at.getTime())
  }
  await state.query(
    `insert into payment_cursors (processor, at) values ($1, $2)
     on conflict (processor) do update set at = excluded.at`,
    [adapter.name, new Date(newestMs)],
  )
}

/** Payments whose processor has said nothing of them for a while. */
async function lookAtQuiet({ state, adapter }: Deps): Promise<void> {
  const { rows } = await state.query<{ reference: string }>(
    `select reference from payments where processor = $1 and reference is not null
       and state in ('created', 'requires_action', 'authorized')
       and changed_at < ledger_now() - interval '${QUIET_S} seconds' order by changed_at limit ${BATCH}`,
    [adapter.name],
  )
  for (const { reference } of rows)
    await applyFacts(state, adapter.name, await adapter.look(reference))
}

/** Calls that were begun and have no answer: the processor knows a call by its key, so it is made once. */
async function callAgain({ state, adapter, log }: Deps): Promise<void> {
  const again = async (id: string, call: () => Promise<unknown>) =>
    await call().catch((error: unknown) => {
      if (!(error instanceof ErgonError)) throw error
      log.warn('A payment could not be begun again', { id, error })
    })
  const payments = await state.query<{ id: string }>(
    `select p.id from payments p where p.processor = $1 and p.state = 'created' and p.reference is null
       and p.created_at < ledger_now() - interval '${CALL_S} seconds' order by p.created_at limit ${BATCH}`,
    [adapter.name],
  )
  for (const { id } of payments.rows) await again(id, () => startPayment(state, adapter, id))
  const refunds = await state.query<{ id: string }>(
    `select r.id from payment_refunds r join payments p on p.id = r.payment
     where p.processor = $1 and r.state = 'pending' and r.reference is null
       and r.created_at < ledger_now() - interval '${CALL_S} seconds' order by r.created_at limit ${BATCH}`,
    [adapter.name],
  )
  for (const { id } of refunds.rows) await again(id, () => startRefund(state, adapter, id))
}
