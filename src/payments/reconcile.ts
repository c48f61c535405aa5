// Asks a processor for its events since the last time, so that a lost webhook only delays its fact, and makes calls
// again that a crash cut off.
import type { Logger } from '#base/log.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { forEachPayment } from './for-each-payment.ts'
import { applyFacts, CALL_S_MAX, startPayment, startRefund } from './start-payment.ts'

/** Asked again: events of a processor may appear late. */
const OVERLAP_S = 3600
/** A call that takes longer has been cut off. */
const CALL_S = 60
/** A payer has so long to confirm. */
const CONFIRM_S = 86_400
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
  await readEvents(deps, signal)
  await endAbandoned(deps, signal)
  await callAgain(deps, signal)
  await lookAtQuiet(deps, signal)
}

/** Takes of claims what running work has given back since, and forgets facts that nobody repeats. */
export async function settleAndForget(state: State, signal: AbortSignal): Promise<void> {
  // Work that ran while its money was claimed has spent of that since.
  const { rows } = await state.query<{ payment: string }>(
    `select payment from payment_claims where state = 'taken' and created_at > ledger_now() - interval '1 day'
     group by payment order by min(created_at) limit ${BATCH}`,
  )
  for (const { payment } of rows) {
    signal.throwIfAborted()
    await settleClaims(state, payment)
  }
  await state.query(
    `delete from payment_facts where (processor, id) in (select processor, id from payment_facts
       where at < ledger_now() - interval '${FACTS_DAYS} days' order by at limit 10000)`,
  )
  await state.query("delete from refused_claims where at < ledger_now() - interval '1 day'")
}

/** A transaction of its own: the next payment's wallet, locked after log_head, would be in the wrong order. */
const settleClaims = (state: State, payment: string): Promise<void> =>
  state.transaction(async (transaction) => {
    await transaction.query('select from payments where id = $1 for no key update', [payment])
    await transaction.query('select settle_claims($1)', [payment])
  })

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

/** Payments whose processor has said nothing of them for a while: those that were looked at longest ago. */
async function lookAtQuiet({ state, adapter, log }: Deps, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ id: string; reference: string }>(
    `update payments set looked_at = ledger_now() where id in (
       select id from payments where processor = $1 and reference is not null
         and state in ('created', 'requires_action', 'authorized')
         and greatest(changed_at, looked_at) < ledger_now() - interval '${QUIET_S} seconds'
       order by greatest(changed_at, looked_at) limit ${BATCH})
     returning id, reference`,
    [adapter.name],
  )
  await forEachPayment({ rows, state, log, signal }, async ({ reference }) => {
    await applyFacts(state, adapter.name, await adapter.look(reference))
  })
}

/** Ends confirmations of payers who left and calls that never reached the processor: both count as under way. */
async function endAbandoned({ state, adapter, log }: Deps, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ id: string; reference: string }>(
    `select id, reference from payments where processor = $1 and state = 'requires_action' and reference is not null
       and created_at < ledger_now() - interval '${CONFIRM_S} seconds' order by created_at limit ${BATCH}`,
    [adapter.name],
  )
  await forEachPayment({ rows, state, log, signal }, ({ id, reference }) =>
    adapter.void(id, reference),
  )
  await state.query(
    `select payment_ended(p, 'failed', 'not_called') from payments p where processor = $1 and state = 'created'
       and reference is null and created_at < ledger_now() - interval '${CALL_S_MAX} seconds'`,
    [adapter.name],
  )
  // Events were read just before: the processor has no such refund.
  const refunds = await state.query<{ id: string; payment: string }>(
    `select r.id, r.payment from payment_refunds r join payments p on p.id = r.payment
     where p.processor = $1 and r.state = 'pending' and r.reference is null
       and r.created_at < ledger_now() - interval '${CALL_S_MAX} seconds' order by r.created_at limit ${BATCH}`,
    [adapter.name],
  )
  await applyFacts(state, adapter.name, refunds.rows.map(toNotCalled))
}

const toNotCalled = ({ id, payment }: { readonly id: string; readonly payment: string }) => ({
  id: `${id}.not_called`,
  type: 'refund_failed',
  payment,
  refund: id,
  reason: 'not_called',
})

/** Calls that were begun and have no answer: the processor knows a call by its key, so it is made once. */
async function callAgain({ state, adapter, log }: Deps, signal: AbortSignal): Promise<void> {
  const isDue = (row: string) => `${row}.reference is null
    and ${row}.created_at between ledger_now() - interval '${CALL_S_MAX} seconds'
      and ledger_now() - interval '${CALL_S} seconds' order by ${row}.created_at limit ${BATCH}`
  const payments = await state.query<{ id: string }>(
    `select p.id from payments p where p.processor = $1 and p.state = 'created' and ${isDue('p')}`,
    [adapter.name],
  )
  await forEachPayment({ ...payments, state, log, signal }, ({ id }) =>
    startPayment(state, adapter, id),
  )
  const refunds = await state.query<{ id: string }>(
    `select r.id from payment_refunds r join payments p on p.id = r.payment
     where p.processor = $1 and r.state = 'pending' and ${isDue('r')}`,
    [adapter.name],
  )
  await forEachPayment({ ...refunds, state, log, signal }, ({ id }) =>
    startRefund(state, adapter, id),
  )
}
