// POST /v1/topups/{topup}/refunds: gives back what is not spent. The money leaves the balance at once, so that it cannot
// be spent while it goes back; it returns to the balance where the processor does not take the refund.
import { present } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { printUsd, pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { pusdOfAmount, type RefundRequest, type TopupReply } from '#contract/payments/payments.ts'
import { once } from '#http/once.ts'
import type { Handler } from '#http/reply.ts'
import type { Posted } from '#ledger/posted.ts'
import { recordAct } from '#identity/audit.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { startRefund } from '#payments/start-payment.ts'
import { stateWords } from '#payments/state-words.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findTopup } from '#payments/find-topup.ts'
import { callerOf } from '#identity/principal.ts'

export function createTopupRefund(deps: {
  readonly state: State
  readonly adapters: readonly PaymentAdapter[]
  readonly posted: Posted
}): Handler<RefundRequest> {
  const { state, adapters, posted } = deps
  return async (call) => {
    const { caller, body, parameters, signal } = call
    const { account } = callerOf({ caller })
    const topup = await findTopup(state, account, parameters['topup'] ?? '')
    const adapter = adapters.find(({ name }) => name === topup.processor)
    const isByOperator = topup.transfer !== null
    if (adapter === undefined && !isByOperator)
      throw fault('payments_off', 'Could not begin the refund')
    const begun = await once(call, state, async () => {
      // The charges of earlier answers are spent money.
      await posted(signal)
      const id = newId('refund')
      const asked =
        body.amount === undefined
          ? null
          : present(pusdOfAmount(body.amount), 'a checked amount').toString()
      return async (transaction) => {
        // The act comes first, as the refund locks the ledger. Without an amount the refund is of all that is left.
        const details = { refund: id, amount_pusd: asked }
        await recordAct(transaction, call, { action: 'topup.refund', target: topup.id, details })
        const { rows } = await transaction.query<{ amount: string | null }>(
          'select begin_refund($1, $2, $3, $4)::text as amount',
          [id, topup.id, account, asked],
        )
        const amount = rows[0]?.amount ?? (await refuse(transaction, topup, asked))
        return { id, amount_pusd: amount }
      }
    })
    // Tokens are sent by the operator, and `refund.settle` tells of them.
    if (adapter !== undefined) await startRefund(state, adapter, begun.id)
    const reply = {
      ...begun,
      object: 'refund',
      topup: topup.id,
      unit: topup.unit,
      status: 'pending',
    }
    return { kind: 'known', status: 201, body: () => reply }
  }
}

/** Throws refund_exceeds with the rest; `asked` is null for all of it. */
async function refuse(state: Queryable, topup: TopupReply, asked: string | null): Promise<never> {
  const { id, unit } = topup
  const { rows } = await state.query<{ left: string | null }>(
    'select refundable($1)::text as left',
    [id],
  )
  const dollars = (amount: string) => printUsd(pusd(BigInt(amount)))
  const what = asked === null ? 'a part' : `${dollars(asked)} ${unit}`
  const left = rows[0]?.left ?? null
  const why = left === null ? stateWords(topup) : `${dollars(left)} are left`
  throw fault('refund_exceeds', `Could not give back ${what} of ${id}: ${why}`)
}
