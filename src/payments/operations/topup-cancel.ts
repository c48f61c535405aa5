// DELETE /v1/topups/{topup}: gives a payment up that is under way. The processor decides between the payer who confirms
// and the payer who cancels; the answer says which of the two came first there.
import { fault } from '#contract/errors.ts'
import type { TopupReply } from '#contract/payments/payments.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { applyFacts } from '#payments/start-payment.ts'
import { stateWords } from '#payments/state-words.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findTopup } from '#payments/find-topup.ts'

export function createTopupCancel(deps: {
  readonly state: State
  readonly adapters: readonly PaymentAdapter[]
}): Handler {
  const { state, adapters } = deps
  return async (call) => {
    const { account } = callerOf(call)
    const topup = await findTopup(state, account, call.parameters['topup'] ?? '')
    const adapter = adapters.find(({ name }) => name === topup.processor)
    if (topup.status !== 'voided') {
      const reference = await openReference(state, topup)
      if (adapter === undefined) throw fault('payments_off', 'Could not cancel the payment')
      await adapter.void(topup.id, reference)
      const facts = await adapter.look(reference)
      await state.transaction(async (transaction) => {
        await applyFacts(transaction, adapter.name, facts)
        // A payment that was paid first was not canceled by anyone.
        const { status } = await findTopup(transaction, account, topup.id)
        if (status === 'voided')
          await recordAct(transaction, call, { action: 'topup.cancel', target: topup.id })
      })
    }
    const reply = await findTopup(state, account, topup.id)
    if (reply.status !== 'voided') throw notCancelable(reply)
    return { kind: 'known', status: 200, body: () => reply }
  }
}

/** The processor's name of a payment under way. Throws topup_not_cancelable. */
async function openReference(state: Queryable, topup: TopupReply): Promise<string> {
  const { rows } = await state.query<{ reference: string | null }>(
    `select reference from payments where id = $1 and payment_under_way(state)`,
    [topup.id],
  )
  const [row] = rows
  if (row === undefined || topup.transfer !== null) throw notCancelable(topup)
  if (row.reference === null)
    throw fault(
      'topup_not_cancelable',
      `Could not cancel ${topup.id}: the processor has not answered yet`,
    )
  return row.reference
}

const notCancelable = (topup: TopupReply) =>
  fault('topup_not_cancelable', `Could not cancel ${topup.id}: ${stateWords(topup)}`)
