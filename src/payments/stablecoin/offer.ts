// 402 payment_required: how to pay an amount by stablecoin, by x402 or by a transfer that the payer then claims.
import type { ErgonError } from '#base/errors.ts'
import type { Pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { PAYMENT_REQUIRED } from '#contract/payments/x402.ts'
import { unitsOf, type TokenChain } from './chains.ts'
import { claimText } from './signed-claim.ts'
import { offerHeaders } from './x402.ts'

/** The facts are of the first chain; the header has all that can be paid by x402. */
export function offer(offered: {
  readonly chains: readonly TokenChain[]
  readonly amount: Pusd
  readonly url: string
  readonly account: string
  readonly error?: string | undefined
}): ErgonError {
  const { chains, amount, url, account } = offered
  const error = offered.error ?? 'PAYMENT-SIGNATURE header is required'
  const headers = offerHeaders(chains, { amount, url, error })
  const [first] = chains
  if (first === undefined) return fault('payments_off', 'Could not offer a payment: no stablecoin')
  const { network, token, receiver, confirmations } = first
  const units = unitsOf(first, amount).toString()
  const how = PAYMENT_REQUIRED in headers ? '' : ', and is taken by a transfer alone, not by x402'
  return fault('payment_required', `Could not top up yet: the payment is missing${how}`, {
    headers,
    details: {
      network,
      token,
      receiver,
      units,
      confirmations,
      pay_link: payLink(first, units),
      claim_text: claimText({ account, network, transaction: '<transaction>' }),
    },
  })
}

/** A link that wallets open (EIP-681). */
const payLink = ({ token, id, receiver }: TokenChain, units: string): string =>
  `ethereum:${token}@${id}/transfer?address=${receiver}&uint256=${units}`
