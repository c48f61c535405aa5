// POST /v1/topups with "method": "stablecoin".
import { present } from '#base/errors.ts'
import { pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { HOLD_USD, pusdOfAmount, type TopupRequest } from '#contract/payments/payments.ts'
import type { OperationCall, Reply } from '#http/reply.ts'
import { findTopup } from '#payments/find-topup.ts'
import { claimTransfer } from './claim-transfer.ts'
import { inspectPayment } from './inspect-now.ts'
import { paySigned, type SignedTopup, type StablecoinDeps } from './pay-signed.ts'
import { watchedPayment } from './watched-payments.ts'
import { callerOf } from '#identity/principal.ts'

export async function topUpByStablecoin(
  deps: StablecoinDeps,
  call: OperationCall<TopupRequest>,
): Promise<Reply> {
  const { caller } = call
  const chains = deps.chains.filter(({ env }) => env === callerOf({ caller }).env)
  if (chains.length === 0)
    throw fault('payments_off', 'Could not pay by stablecoin: none is set up for this money')
  const before = call.begun?.before as { readonly id: string } | undefined
  const { id, headers } =
    before === undefined
      ? await begin({ ...deps, chains }, call)
      : await goOn({ ...deps, chains }, call, before.id)
  const reply = await findTopup(deps.state, callerOf({ caller }).account, id)
  return { kind: 'known', status: 201, headers, body: () => reply }
}

async function begin(
  deps: StablecoinDeps,
  call: OperationCall<TopupRequest>,
): Promise<SignedTopup> {
  const { transfer, hold, amount } = call.body
  if (transfer !== undefined) return { id: await claimTransfer(deps, call, transfer), headers: {} }
  return await paySigned(deps, call, {
    kind: hold ? 'hold' : 'topup',
    amount: pusd(present(pusdOfAmount(amount ?? HOLD_USD), 'a checked amount')),
  })
}

/** A repetition: its authorisation may have ended meanwhile, and its transfer is on its way. The watch does the rest. */
async function goOn(
  { state, chains }: StablecoinDeps,
  { signal }: OperationCall,
  id: string,
): Promise<SignedTopup> {
  const watched = await watchedPayment(state, id)
  const chain = chains.find(({ network }) => network === watched?.network)
  if (watched !== undefined && chain !== undefined)
    await inspectPayment(state, { chain, watched }, signal)
  const { rows } = await state.query<{ reason: string | null }>(
    "select reason from payments where id = $1 and state = 'failed'",
    [id],
  )
  const reason = rows[0]?.reason
  if (reason == null) return { id, headers: {} }
  throw fault('payment_declined', `Could not take the payment: ${reason}`, {
    details: { topup: id, reason },
  })
}
