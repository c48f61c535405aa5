// The offer of a payment by x402, and the check of a client's answer to it.
import { messageOf } from '#base/errors.ts'
import type { Pusd } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import {
  encodePaymentHeader,
  PAYMENT_REQUIRED,
  paymentPayload,
  type PaymentPayload,
  type PaymentRequirements,
} from '#contract/payments/x402.ts'
import { isSignedByPayer } from './authorization-signature.ts'
import { unitsOf, type TokenChain, type Facilitator } from './chains.ts'

/** In which a payer signs, and a facilitator sends the transaction. */
const TIMEOUT_S = 300
/** An authorisation that ends sooner would end before it is in a block. */
const LEFT_S_MIN = 10
/** The most by which a payer's clock may differ. */
const CLOCK_S = 60

/** A payment that is signed, for one of our requirements. */
export type SignedPayment = {
  readonly chain: TokenChain
  readonly facilitator: Facilitator
  readonly requirements: PaymentRequirements
  /** As it came: the facilitator gets the bytes that the payer signed. */
  readonly raw: unknown
  readonly authorization: PaymentPayload['payload']['authorization']
}

export const requirementsOf = (chain: TokenChain, amount: Pusd): PaymentRequirements => ({
  scheme: 'exact',
  network: chain.network,
  amount: unitsOf(chain, amount).toString(),
  asset: chain.token,
  payTo: chain.receiver,
  maxTimeoutSeconds: TIMEOUT_S,
  extra: { assetTransferMethod: 'eip3009', name: chain.name, version: chain.version },
})

/** The header PAYMENT-REQUIRED; none where no chain has a facilitator. */
export function offerHeaders(
  chains: readonly TokenChain[],
  offer: { readonly amount: Pusd; readonly url: string; readonly error: string },
): Readonly<Record<string, string>> {
  const payable = chains.filter(({ facilitator }) => facilitator !== undefined)
  if (payable.length === 0) return {}
  const value = encodePaymentHeader({
    x402Version: 2,
    error: offer.error,
    resource: {
      url: offer.url,
      description: 'Top-up of the balance',
      mimeType: 'application/json',
    },
    accepts: payable.map((chain) => requirementsOf(chain, offer.amount)),
  })
  return { [PAYMENT_REQUIRED]: value }
}

/**
 * Reads PAYMENT-SIGNATURE. Throws payment_invalid where it is not for this amount and one of the chains, now, or where the
 * payer did not sign it.
 */
export async function readSignedPayment(
  header: string,
  expected: {
    readonly chains: readonly TokenChain[]
    readonly amount: Pusd
    readonly nowMs: number
  },
): Promise<SignedPayment> {
  const raw = jsonOf(header)
  const parsed = paymentPayload.safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalid(`${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim())
  }
  const { accepted, payload } = parsed.data
  const chain = expected.chains.find(({ network }) => network === accepted.network)
  const facilitator = chain?.facilitator
  if (chain === undefined || facilitator === undefined)
    throw invalid(`network "${accepted.network.slice(0, 60)}"`)
  const requirements = requirementsOf(chain, expected.amount)
  const { authorization } = payload
  const faults: readonly (readonly [string, boolean])[] = [
    ['accepted.scheme', accepted.scheme === requirements.scheme],
    ['accepted.asset', accepted.asset === requirements.asset],
    ['accepted.payTo', accepted.payTo === requirements.payTo],
    ['accepted.amount', accepted.amount === requirements.amount],
    ['payload.authorization.to', authorization.to === requirements.payTo],
    ['payload.authorization.value', authorization.value === BigInt(requirements.amount)],
    ...timeFaults(authorization, expected.nowMs),
  ]
  const wrong = faults.find(([, holds]) => !holds)
  if (wrong !== undefined) throw invalid(wrong[0])
  if (!(await isSignedByPayer(chain, payload)))
    throw invalid('payload.signature is not of payload.authorization.from')
  return { chain, facilitator, requirements, raw, authorization }
}

function timeFaults(
  { validAfter, validBefore }: SignedPayment['authorization'],
  nowMs: number,
): [string, boolean][] {
  const nowS = BigInt(Math.floor(nowMs / 1000))
  return [
    ['payload.authorization.validAfter', validAfter <= nowS + BigInt(CLOCK_S)],
    [
      'payload.authorization.validBefore',
      validBefore > nowS + BigInt(LEFT_S_MIN) && validBefore <= nowS + BigInt(TIMEOUT_S + CLOCK_S),
    ],
  ]
}

function jsonOf(header: string): unknown {
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString())
  } catch (error) {
    throw invalid(`no JSON in base64, ${messageOf(error)}`)
  }
}

const invalid = (what: string) =>
  fault('payment_invalid', `Could not accept PAYMENT-SIGNATURE: ${what}`, {
    param: 'PAYMENT-SIGNATURE',
  })
