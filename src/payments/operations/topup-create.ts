// POST /v1/topups: a payment by card or stablecoin, or the hold of the sign-up. The answer moves no money: facts do.
import { newId } from '#base/ids.ts'
import { present } from '#base/errors.ts'
import { pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { HOLD_USD, pusdOfAmount, type TopupRequest } from '#contract/payments/payments.ts'
import { once } from '#http/once.ts'
import type { OperationCall, Handler, Reply } from '#http/reply.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { beginPayment } from '#payments/begin-payment.ts'
import { declined } from '#payments/decline.ts'
import { recordAct } from '#identity/audit.ts'
import { demandPaymentPace } from '#payments/pace.ts'
import { adapterOf } from '#payments/settings.ts'
import type { StablecoinDeps } from '#payments/stablecoin/pay-signed.ts'
import { topUpByStablecoin } from '#payments/stablecoin/stablecoin-topup.ts'
import { startPayment } from '#payments/start-payment.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findTopup } from '#payments/find-topup.ts'
import { callerOf } from '#identity/principal.ts'

export function createTopupCreate(
  deps: { readonly adapters: readonly PaymentAdapter[] } & StablecoinDeps,
): Handler<TopupRequest> {
  return async (call) => {
    const { caller, body } = call
    const unit = callerOf({ caller }).env === 'test' ? 'tUSD' : 'USD'
    if (body.unit !== undefined && body.unit !== unit)
      throw fault('invalid_request', `Could not begin the payment: the account has ${unit}`, {
        param: 'unit',
      })
    return body.method === 'stablecoin'
      ? await topUpByStablecoin(deps, call)
      : await topUpByCard(deps, call)
  }
}

async function topUpByCard(
  { state, adapters }: { readonly state: State; readonly adapters: readonly PaymentAdapter[] },
  call: OperationCall<TopupRequest>,
): Promise<Reply> {
  const { caller, body } = call
  const { account, env } = callerOf({ caller })
  const adapter = adapterOf(adapters, env)
  if (adapter === undefined) throw fault('payments_off', 'Could not begin the payment')
  const { id } = await once(call, state, () => async (transaction) => {
    const owner = { account, processor: adapter.name }
    const method = await methodOf(transaction, owner, body.payment_method)
    const made = newId('pay')
    const kind = body.hold ? 'hold' : 'topup'
    const amount = pusd(present(pusdOfAmount(body.amount ?? HOLD_USD), 'a checked amount'))
    await demandPaymentPace(transaction, account)
    await beginPayment(transaction, { ...owner, id: made, kind, amount, method })
    const details = { kind, amount_pusd: amount.toString(), payment_method: method }
    await recordAct(transaction, call, { action: 'topup.create', target: made, details })
    return { id: made }
  })
  const { failure } = await startPayment(state, adapter, id)
  if (failure !== undefined) throw declined('take the payment', failure, { topup: id })
  const reply = await findTopup(state, account, id)
  return { kind: 'known', status: 201, body: () => reply }
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
  const which = named === undefined ? '' : ` "${named.slice(0, 60)}" that works`
  throw fault(
    'payment_method_not_found',
    `Could not begin the payment: the account has no card${which}`,
  )
}
