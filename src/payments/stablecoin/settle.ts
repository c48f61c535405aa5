// Asks the facilitator to send an authorisation to the chain. Its answer ends a payment or is written down, and never
// is money. A repetition is harmless, as the token takes an authorisation once.
import type { SettlementResponse } from '#contract/payments/x402.ts'
import type { Queryable } from '#state/connect.ts'
import type { Facilitator } from './chains.ts'
import { settlePayment, verifyPayment, type FacilitatorRequest } from './facilitator.ts'
import { failPayment } from './record-sight.ts'

/** Throws payment_processor_away: then nobody knows, and the payment stays under way. */
export async function settle(
  state: Queryable,
  facilitator: Facilitator,
  payment: {
    readonly id: string
    readonly network: string
    readonly request: FacilitatorRequest
    readonly signal: AbortSignal
  },
): Promise<SettlementResponse> {
  const { id, network, request, signal } = payment
  const invalid = await verifyPayment(facilitator, request, signal)
  const answer: SettlementResponse =
    invalid === undefined
      ? await settlePayment(facilitator, { ...request, network }, signal)
      : { success: false, errorReason: invalid, transaction: '', network }
  if (!answer.success) await failPayment(state, id, answer.errorReason ?? 'refused')
  await state.query(
    'update stablecoin_payments set settled_as = $2, payload = null where payment = $1',
    [id, answer.success ? answer.transaction : null],
  )
  return answer
}
