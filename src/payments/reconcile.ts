// Asks a processor for its events since the last time, so that a lost webhook only delays its fact, and makes calls
// again that a crash cut off. A step that fails stops no other.
import type { Logger } from '#base/log.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { PaymentAdapter, ProcessorEvent } from './adapter.ts'
import { noteFailing, retryEvents } from './failing-events.ts'
import { forEachPayment, turn } from './for-each-payment.ts'
import { forgetRemoved } from './removed-methods.ts'
import { applyFacts, CALL_S_MAX, startPayment, startRefund } from './start-payment.ts'

/** Asked again: events of a processor may appear late. */
const OVERLAP_S = 3600
/** A call that takes longer has been cut off. */
const CALL_S = 60
/** Time in which a payer may confirm. */
const CONFIRM_S = 86_400
/** Age at which a payment under way is checked by itself. */
const QUIET_S = 120
const BATCH = 50
/** Time limit of a step; the next run does the rest of its work. All of them are within the time limit of the task. */
const STEP_MS = 18_000
/** Longer than the processor's own memory of its events. */
const FACTS_DAYS = 60

type Deps = {
  readonly state: Queryable
  readonly adapter: PaymentAdapter
  readonly log: Logger
}

/** A step that fails, or takes all its time, stops no other; then the first failure is thrown. */
export async function reconcilePayments(
  deps: Deps,
  signal: AbortSignal,
  stepMs = STEP_MS,
): Promise<void> {
  const failures: unknown[] = []
  for (const step of [
    retryEvents,
    readEvents,
    forgetRemoved,
    endAbandoned,
    callAgain,
    lookAtQuiet,
  ]) {
    const over = AbortSignal.timeout(stepMs)
    await step(deps, AbortSignal.any([signal, over])).catch((error: unknown) => {
      if (signal.aborted) throw error
      if (error !== over.reason) failures.push(error)
    })
  }
  if (failures.length > 0) throw failures[0]
}

/** Forgets facts that nobody repeats, and takes of claims what running work has given back since. */
export async function forgetAndSettle(state: State, signal: AbortSignal): Promise<void> {
  await state.query(
    `delete from payment_facts where (processor, id) in (select processor, id from payment_facts
       where at < ledger_now() - interval '${FACTS_DAYS} days' order by at limit 10000)`,
  )
  await state.query(
    `delete from payment_failing_events where since < ledger_now() - interval '${FACTS_DAYS} days'`,
  )
  await state.query("delete from refused_claims where at < ledger_now() - interval '1 day'")
  // Work that ran while its money was claimed has spent of that since. Those that were settled longest ago come first.
  const { rows } = await state.query<{ payment: string }>(
    `select id as payment from payments where id in (select payment from payment_claims
       where state = 'taken' and created_at > ledger_now() - interval '1 day')
     order by looked_at, id limit ${BATCH}`,
  )
  for (const { payment } of rows) {
    signal.throwIfAborted()
    await state.query('update payments set looked_at = ledger_now() where id = $1', [payment])
    await settleClaims(state, payment)
  }
}

/** A transaction of its own: the next payment's wallet, locked after log_head, would be in the wrong order. */
const settleClaims = (state: State, payment: string): Promise<void> =>
  state.transaction(async (transaction) => {
    await transaction.query('select from payments where id = $1 for no key update', [payment])
    await transaction.query('select settle_claims($1)', [payment])
  })

/**
 * The events since the last time. The cursor is the time of the newest one, by the processor's clock: ours may jump. One
 * that cannot be applied is written down, and the cursor goes on past it; the first such failure is thrown, also where the
 * time is over.
 */
async function readEvents(deps: Deps, signal: AbortSignal): Promise<void> {
  const { state, adapter } = deps
  const { rows } = await state.query<{ at: Date }>(
    'select at from payment_cursors where processor = $1',
    [adapter.name],
  )
  let newestMs = rows[0]?.at.getTime() ?? 0
  const failures: unknown[] = []
  const since = new Date(Math.max(0, newestMs - OVERLAP_S * 1000))
  try {
    for await (const event of adapter.reconcile(since, signal)) {
      signal.throwIfAborted()
      await applyEvent(deps, event).catch(async (error: unknown) => {
        if (signal.aborted) throw error
        await noteFailing(deps, event, error)
        failures.push(error)
      })
      if (event.at.getTime() <= newestMs) continue
      newestMs = event.at.getTime()
      await keepCursor(deps, event.at)
    }
  } catch (error) {
    throw failures[0] ?? error
  }
  if (failures.length > 0) throw failures[0]
  await endUncalled(deps)
}

/** Neither a fact that came before nor an event that failed is asked for here: the overlap is listed each minute. */
async function applyEvent({ state, adapter }: Deps, { id, facts }: ProcessorEvent): Promise<void> {
  const { rowCount } = await state.query(
    `select from payment_facts where processor = $1 and id = $2
     union all select from payment_failing_events where processor = $1 and id = $2`,
    [adapter.name, id],
  )
  if (rowCount === 0) await applyFacts(state, adapter.name, await facts())
}

const keepCursor = async ({ state, adapter }: Deps, at: Date): Promise<void> =>
  void (await state.query(
    `insert into payment_cursors (processor, at) values ($1, $2)
     on conflict (processor) do update set at = excluded.at`,
    [adapter.name, at],
  ))

/** Payments whose processor has said nothing of them for a while: those that were looked at longest ago. */
async function lookAtQuiet({ state, adapter, log }: Deps, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ id: string; reference: string }>(
    `update payments set looked_at = ledger_now() where id in (
       select id from payments where processor = $1 and reference is not null
         and payment_open(state)
         and greatest(changed_at, looked_at) < ledger_now() - interval '${QUIET_S} seconds'
       order by greatest(changed_at, looked_at) limit ${BATCH})
     returning id, reference`,
    [adapter.name],
  )
  await forEachPayment({ rows, state, log, signal }, async ({ reference }) => {
    await applyFacts(state, adapter.name, await adapter.look(reference))
  })
}

/** Ends confirmations of payers who left: they count as under way. */
async function endAbandoned({ state, adapter, log }: Deps, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ id: string; reference: string }>(
    `select id, reference from payments p where processor = $1 and state = 'requires_action' and reference is not null
       and created_at < ledger_now() - interval '${CONFIRM_S} seconds' order by ${turn('p.id', 'p.created_at')} limit ${BATCH}`,
    [adapter.name],
  )
  await forEachPayment({ rows, state, log, signal }, ({ id, reference }) =>
    adapter.void(id, reference),
  )
}

/**
 * Ends calls that never reached the processor. All events were read just before: it has no such payment or refund, unless
 * an event since the call could not be applied.
 */
async function endUncalled({ state, adapter }: Deps): Promise<void> {
  await state.query(
    `select payment_ended(p, 'failed', 'not_called') from payments p where processor = $1 and state = 'created'
       and reference is null and created_at < ledger_now() - interval '${CALL_S_MAX} seconds'
       and ${isRead('p')}`,
    [adapter.name],
  )
  const refunds = await state.query<{ id: string; payment: string }>(
    `select r.id, r.payment from payment_refunds r join payments p on p.id = r.payment
     where p.processor = $1 and r.state = 'pending' and r.reference is null
       and r.created_at < ledger_now() - interval '${CALL_S_MAX} seconds' and ${isRead('r')} order by r.created_at limit ${BATCH}`,
    [adapter.name],
  )
  await applyFacts(state, adapter.name, refunds.rows.map(toNotCalled))
}

/** The clocks may differ by the overlap. */
const isRead = (
  row: string,
) => `not exists (select from payment_failing_events e where e.processor = $1
  and e.at > ${row}.created_at - interval '${OVERLAP_S} seconds')`

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
      and ledger_now() - interval '${CALL_S} seconds' order by ${turn(`${row}.id`, `${row}.created_at`)} limit ${BATCH}`
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
