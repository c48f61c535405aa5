// The facilitator of x402, which sends the payer's authorisation to the chain and pays for that. Its answers move no
// money: inspect-chain.ts finds the transfer.
import type { SettlementResponse } from '#contract/payments/x402.ts'
import { askJson } from './ask-json.ts'
import type { Facilitator } from './chains.ts'
import { nodeFault } from './node.ts'

const VERIFY_TIMEOUT_MS = 10_000
/** It waits for a block. */
const SETTLE_TIMEOUT_MS = 40_000
const REASON = /^[\w.:-]{1,100}$/

/** The form of x402 for both requests. */
export type FacilitatorRequest = {
  readonly x402Version: 2
  readonly paymentPayload: unknown
  readonly paymentRequirements: unknown
}

/** The kinds of payments that it settles. Throws payment_processor_away. */
export async function supportedKinds(
  facilitator: Facilitator,
  signal: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const how = { path: '/supported', timeoutMs: VERIFY_TIMEOUT_MS, signal }
  const { kinds } = await ask(facilitator, undefined, how)
  if (!Array.isArray(kinds)) throw nodeFault('the facilitator', 'no answer of x402')
  return kinds.filter((kind) => typeof kind === 'object' && kind !== null)
}

/** Why it would not settle; undefined where it would. Throws payment_processor_away. */
export async function verifyPayment(
  facilitator: Facilitator,
  request: FacilitatorRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await ask(facilitator, request, {
    path: '/verify',
    timeoutMs: VERIFY_TIMEOUT_MS,
    signal,
  })
  if (typeof answer['isValid'] !== 'boolean')
    throw nodeFault('the facilitator', 'no answer of x402')
  return answer['isValid'] ? undefined : reasonOf(answer['invalidReason'])
}

/** Throws payment_processor_away: then nobody knows whether it settled. */
export async function settlePayment(
  facilitator: Facilitator,
  request: FacilitatorRequest & { readonly network: string },
  signal: AbortSignal,
): Promise<SettlementResponse> {
  const { network, ...body } = request
  const answer = await ask(facilitator, body, {
    path: '/settle',
    timeoutMs: SETTLE_TIMEOUT_MS,
    signal,
  })
  const { success, transaction, payer } = answer
  if (typeof success !== 'boolean') throw nodeFault('the facilitator', 'no answer of x402')
  const hash = typeof transaction === 'string' ? transaction.toLowerCase() : ''
  return {
    success,
    ...(success ? {} : { errorReason: reasonOf(answer['errorReason']) }),
    ...(typeof payer === 'string' && /^0x[0-9a-fA-F]{40}$/.test(payer) ? { payer } : {}),
    transaction: /^0x[0-9a-f]{64}$/.test(hash) ? hash : '',
    network,
  }
}

async function ask(
  { url, key }: Facilitator,
  body: FacilitatorRequest | undefined,
  how: { readonly path: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Readonly<Record<string, unknown>>> {
  const { status, json } = await askJson(url, { ...how, what: 'the facilitator', body, key })
  if (status >= 500 || status === 401 || status === 403 || status === 429)
    throw nodeFault('the facilitator', `status ${status}`)
  return (json ?? {}) as Readonly<Record<string, unknown>>
}

/** A code, as others would let a facilitator write to our callers. */
const reasonOf = (value: unknown): string =>
  typeof value === 'string' && REASON.test(value) ? value : 'refused'
