// A top-up by x402: an offer, then a signed authorisation, which the facilitator sends to the chain. Before anything is
// sent the authorisation belongs to the payment, so whatever becomes of it is found on the chain.
import type { ErgonError } from '#base/errors.ts'
import type { Pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import {
  encodePaymentHeader,
  PAYMENT_RESPONSE,
  PAYMENT_SIGNATURE,
  type SettlementResponse,
} from '#contract/payments/x402.ts'
import type { OperationCall } from '#http/reply.ts'
import { demandPaymentPace } from '#payments/pace.ts'
import type { State } from '#state/connect.ts'
import type { TokenChain } from './chains.ts'
import { inspectChain, searchFrom } from './inspect-chain.ts'
import { inspectNow } from './inspect-now.ts'
import { offer } from './offer.ts'
import { settle } from './settle.ts'
import { claimPayment, findPayment } from './stablecoin-payments.ts'
import { readSignedPayment, type SignedPayment } from './x402.ts'
import { callerOf } from '#identity/principal.ts'

export type StablecoinDeps = {
  readonly state: State
  readonly chains: readonly TokenChain[]
  /** The address of POST /v1/topups. */
  readonly url: string
}

export type SignedTopup = {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Throws payment_required without a signature, payment_invalid, payment_pace_exceeded, payment_declined,
 * payment_processor_away.
 */
export async function paySigned(
  { state, chains, url }: StablecoinDeps,
  call: OperationCall,
  wanted: { readonly kind: 'hold' | 'topup'; readonly amount: Pusd },
): Promise<SignedTopup> {
  const { caller, headers, signal } = call
  const { kind, amount } = wanted
  const { account } = callerOf({ caller })
  const header = headers[PAYMENT_SIGNATURE]
  const offered = { chains, amount, url, account }
  if (header === undefined) throw offer(offered)
  const signed = await readSignedPayment(header, { chains, amount, nowMs: Date.now() })
  await state.transaction((transaction) => demandPaymentPace(transaction, account))
  const { chain, facilitator } = signed
  const fromBlock = await searchFrom(chain, signal)
  const payment = { ...paymentOf(signed), account, kind, amount, fromBlock }
  if ((await findPayment(state, chain, payment)) === undefined)
    await demandUnused(signed, fromBlock, signal)
  const { id, isNew } = await claimPayment(state, call, { chain, payment })
  const settlement = { id, network: chain.network, request: requestOf(signed), signal }
  // Otherwise an earlier request has asked the facilitator.
  const answer = isNew ? await settle(state, facilitator, settlement) : undefined
  if (answer?.success === false) throw declined(id, answer, offered)
  await inspectNow(state, { chain, id }, signal)
  return { id, headers: answer === undefined ? {} : responseHeader(answer) }
}

/**
 * Refuses an authorisation that a block has already: it was sent past us, and its signature, which anybody can copy from
 * the chain, does not name the account that it pays.
 */
async function demandUnused(
  { chain, authorization: { from: sender, nonce } }: SignedPayment,
  fromBlock: bigint,
  signal: AbortSignal,
): Promise<void> {
  const sought = { sender, nonce, transaction: null, fromBlock, seenInBlock: fromBlock }
  const sight = await inspectChain(chain, sought, signal)
  if (sight.kind === 'unsure') throw fault('payment_processor_away', sight.reason)
  if (sight.kind === 'seen' || sight.isMined)
    throw fault('payment_invalid', 'Could not take the payment: its authorisation was used before')
}

const requestOf = ({ raw, requirements }: SignedPayment) =>
  ({ x402Version: 2, paymentPayload: raw, paymentRequirements: requirements }) as const

const paymentOf = (signed: SignedPayment) => {
  const { from: sender, value: units, nonce, validBefore } = signed.authorization
  return { sender, units, how: { nonce, validBefore, payload: requestOf(signed) } }
}

/** With a new offer, as the payer may sign once more. */
function declined(
  topup: string,
  answer: SettlementResponse,
  offered: Parameters<typeof offer>[0],
): ErgonError {
  const reason = answer.errorReason ?? 'refused'
  const { headers } = offer({ ...offered, error: reason })
  return fault('payment_declined', `Could not take the payment: ${reason}`, {
    details: { topup, reason },
    headers: { ...headers, ...responseHeader(answer) },
  })
}

const responseHeader = (answer: SettlementResponse) => ({
  [PAYMENT_RESPONSE]: encodePaymentHeader(answer),
})
