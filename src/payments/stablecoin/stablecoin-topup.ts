// POST /v1/topups with "method": "stablecoin".
import { present } from '#base/errors.ts'
import { pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { HOLD_USD, pusdOfAmount, type TopupRequest } from '#contract/payments.ts'
import type { Handled, Reply } from '#http/reply.ts'
import { findTopup } from '#payments/operations/find-topup.ts'
import { claimTransfer } from './claim-transfer.ts'
import { paySigned, type SignedTopup, type StablecoinDeps } from './pay-signed.ts'
import { callerOf } from '#identity/principal.ts'

export async function topUpByStablecoin(
  deps: StablecoinDeps,
  call: Handled<TopupRequest>,
): Promise<Reply> {
  const { who } = call
  const chains = deps.chains.filter(({ env }) => env === callerOf(who).env)
  if (chains.length === 0)
    throw fault('payments_off', 'Could not pay by stablecoin: none is set up for this money')
  const { id, headers } = await begin({ ...deps, chains }, call)
  const reply = await findTopup(deps.state, callerOf(who).account, id)
  return { kind: 'known', status: 201, headers, body: () => reply }
}

async function begin(deps: StablecoinDeps, call: Handled<TopupRequest>): Promise<SignedTopup> {
  const { transfer, hold, amount } = call.body
  if (transfer !== undefined) return { id: await claimTransfer(deps, call, transfer), headers: {} }
  return await paySigned(deps, call, {
    kind: hold ? 'hold' : 'topup',
    amount: pusd(present(pusdOfAmount(amount ?? HOLD_USD), 'a checked amount')),
  })
}
