// POST /v1/topups/{topup}/refunds: gives back what is not spent. The money leaves the balance at once, so that it cannot
// be spent while it goes back; it returns to the balance where the processor does not take the refund.
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import { pusdOfAmount, type RefundRequest } from '#contract/payments.ts'
import type { Handler } from '#http/reply.ts'
import type { Posted } from '#ledger/posted.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { startRefund } from '#payments/start-payment.ts'
import type { Queryable } from '#state/connect.ts'
import { findTopup } from './find-topup.ts'

export function createTopupRefund(deps: {
  readonly state: Queryable
  readonly adapters: readonly PaymentAdapter[]
  readonly posted: Posted
}): Handler<RefundRequest> {
  const { state, adapters, posted } = deps
  return async ({ who, body, parameters, signal }) => {
    const account = who?.account ?? ''
    const topup = await findTopup(state, account, parameters['topup'] ?? '')
    const adapter = adapters.find(({ name }) => name === topup.processor)
    if (adapter === undefined) throw fault('payments_off', 'Could not begin the refund')
    // The charges of earlier answers are spent money.
    await posted(signal)
    const id = newId('refund')
    const asked = body.amount === undefined ? null : pusdOfAmount(body.amount)?.toString()
    const { rows } = await state.query<{ amount: string | null }>(
      'select begin_refund($1, $2, $3, $4)::text as amount',
      [id, topup.id, account, asked],
    )
    const amount = rows[0]?.amount ?? undefined
    if (amount === undefined)
      throw fault('refund_exceeds', `Could not give back: ${topup.id} has not so much left`)
    await startRefund(state, adapter, id)
    const reply = {
      id,
      object: 'refund',
      topup: topup.id,
      amount_pusd: amount,
      unit: topup.unit,
      status: 'pending',
    }
    return { kind: 'known', status: 201, body: () => reply }
  }
}
