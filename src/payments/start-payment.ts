// The call to the processor that a payment begins with. It may be made again, by a repeated request or after a crash: the
// processor knows it by the id of the payment, and the payment by its row.
import { present } from '#base/errors.ts'
import { pusd } from '#base/units.ts'
import type { Queryable } from '#state/connect.ts'
import type { CallOutcome, PaymentAdapter } from './adapter.ts'

/** The processor forgets its keys after a day: a call made then would be another one. */
export const CALL_S_MAX = 23 * 3600

type Row = {
  /** The payment is under way, and its answer may be lost. */
  open: boolean
  reference: string | null
  failure: string | null
  account: string
  kind: 'hold' | 'topup' | 'automatic'
  amount: string
  method: string | null
  customer: string | null
}

/** Makes the call, unless its answer is known or it would be another one; what is known of the payment. */
export async function startPayment(
  state: Queryable,
  adapter: PaymentAdapter,
  payment: string,
): Promise<CallOutcome> {
  const { rows } = await state.query<Row>(
    `select payment_under_way(p.state) and p.action is null
         and p.created_at > ledger_now() - interval '${CALL_S_MAX} seconds' as open,
       p.reference, case when p.state = 'failed' then coalesce(p.reason, '') end as failure, p.account, p.kind, p.amount_pusd::text as amount, m.reference as method, s.customer
     from payments p left join payment_methods m on m.id = p.method
       left join payment_accounts s on s.account = p.account
     where p.id = $1`,
    [payment],
  )
  const row = present(rows[0], `no payment ${payment}`)
  if (!row.open)
    return {
      reference: row.reference ?? '',
      ...(row.failure === null ? {} : { failure: row.failure }),
    }
  const order = {
    payment,
    account: row.account,
    amount: pusd(BigInt(row.amount)),
    customer: present(row.customer, 'an account with a card has a customer'),
    method: present(row.method, 'a card that works has a name at the processor'),
    isOffSession: row.kind === 'automatic',
  }
  const outcome = row.kind === 'hold' ? await adapter.authorize(order) : await adapter.charge(order)
  await state.query('select note_payment($1, $2, $3, $4)', [
    payment,
    outcome.reference === '' ? null : outcome.reference,
    outcome.action === undefined ? null : JSON.stringify(outcome.action),
    outcome.failure ?? null,
  ])
  return outcome
}

/** The same for a refund: makes the call unless its answer is known. */
export async function startRefund(
  state: Queryable,
  adapter: PaymentAdapter,
  refund: string,
): Promise<void> {
  const { rows } = await state.query<{
    open: boolean
    amount: string
    reference: string
    payment: string
  }>(
    `select r.state = 'pending' and r.reference is null
         and r.created_at > ledger_now() - interval '${CALL_S_MAX} seconds' as open,
       r.amount_pusd::text as amount, p.reference, p.id as payment
     from payment_refunds r join payments p on p.id = r.payment where r.id = $1`,
    [refund],
  )
  const row = present(rows[0], `no refund ${refund}`)
  if (!row.open) return
  const outcome = await adapter.refund({
    refund,
    reference: row.reference,
    amount: pusd(BigInt(row.amount)),
  })
  if (outcome.failure === undefined)
    await state.query(
      'update payment_refunds set reference = coalesce(reference, $2) where id = $1',
      [refund, outcome.reference],
    )
  // The processor will tell nothing of a refund that it did not take.
  else
    await applyFacts(state, adapter.name, [
      {
        id: `${refund}.refused`,
        type: 'refund_failed',
        payment: row.payment,
        refund,
        reason: outcome.failure,
      },
    ])
}

/** Applies facts in their order; the outcome of each. */
export async function applyFacts(
  state: Queryable,
  processor: string,
  facts: readonly object[],
): Promise<string[]> {
  const outcomes: string[] = []
  for (const fact of facts) {
    const { rows } = await state.query<{ outcome: string }>(
      'select payment_fact($1, $2) as outcome',
      [processor, JSON.stringify(fact)],
    )
    outcomes.push(rows[0]?.outcome ?? '')
  }
  return outcomes
}
