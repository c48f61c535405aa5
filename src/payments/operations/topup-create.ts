// POST /v1/topups: a payment by card, or the hold of the sign-up. The answer moves no money: the webhook does.
import { newId } from '#base/ids.ts'
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { HOLD_USD, pusdOfAmount, type TopupRequest } from '#contract/payments.ts'
import type { Handler } from '#http/reply.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { recordAct } from '#identity/audit.ts'
import { adapterOf } from '#payments/settings.ts'
import { startPayment } from '#payments/start-payment.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findTopup } from './find-topup.ts'

/** Payments of an account that may be under way at once. */
export const PAYMENTS_OPEN_MAX = 5

export function createTopupCreate(deps: {
  readonly state: State
  readonly adapters: readonly PaymentAdapter[]
}): Handler<TopupRequest> {
  const { state, adapters } = deps
  return async (call) => {
    const { who, body } = call
    const account = who?.account ?? ''
    const adapter = adapterOf(adapters, who?.env)
    if (adapter === undefined) throw fault('payments_off', 'Could not begin the payment')
    const unit = who?.env === 'test' ? 'tUSD' : 'USD'
    if (body.unit !== undefined && body.unit !== unit)
      throw fault('invalid_request', `Could not begin the payment: the account has ${unit}`, {
        param: 'unit',
      })
    const method = await methodOf(state, { account, processor: adapter.name }, body.payment_method)
    const id = newId('pay')
    const kind = body.hold ? 'hold' : 'topup'
    const amount = present(pusdOfAmount(body.amount ?? HOLD_USD), 'a checked amount')
    const payment = [id, account, adapter.name, kind, amount.toString(), method]
    await state.transaction(async (transaction) => {
      await begin(transaction, payment)
      const details = { kind, amount_pusd: amount.toString(), payment_method: method }
      await recordAct(transaction, call, { action: 'topup.create', target: id, details })
    })
    const { failure } = await startPayment(state, adapter, id)
    if (failure !== undefined)
      throw fault('payment_declined', `Could not take the payment: ${failure}`, {
        details: { topup: id, reason: failure },
      })
    const reply = await findTopup(state, account, id)
    return { kind: 'known', status: 201, body: () => reply }
  }
}

async function begin(state: Queryable, payment: readonly string[]): Promise<void> {
  const { rows } = await state.query<{ id: string | null; holds: boolean }>(
    `select begin_payment($1, $2, $3, $4, $5, $6, ${PAYMENTS_OPEN_MAX}) as id,
       $4 = 'hold' and exists (select from payments where account = $2 and kind = 'hold'
         and state in ('created', 'requires_action', 'authorized', 'captured', 'disputed')) as holds`,
    payment,
  )
  if (rows[0]?.id != null) return
  if (rows[0]?.holds === true)
    throw fault('hold_exists', 'Could not begin the hold: the account has one')
  throw fault(
    'too_many_payments',
    `Could not begin the payment: ${PAYMENTS_OPEN_MAX} are under way`,
  )
}

/** The card that is named, or the newest that works. Throws payment_method_not_found. */
async function methodOf(
  state: Queryable,
  owner: { readonly account: string; readonly processor: string },
  named: string | undefined,
): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    `select id from payment_methods where account = $1 and processor = $2 and state = 'active'
       and ($3::text is null or id = $3) order by id desc limit 1`,
    [owner.account, owner.processor, named ?? null],
  )
  const id = rows[0]?.id
  if (id !== undefined) return id
  const which = named === undefined ? 'the account has no card' : `"${named.slice(0, 60)}"`
  throw fault('payment_method_not_found', `Could not begin the payment: ${which}`)
}
