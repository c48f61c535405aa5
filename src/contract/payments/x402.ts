// x402, version 2: payments by a signed authorisation in headers (https://github.com/x402-foundation/x402, specs/
// x402-specification-v2.md, specs/transports-v2/http.md, specs/schemes/exact/scheme_exact_evm.md). The only scheme
// here is `exact` by EIP-3009.
import { z } from 'zod'
import { hexText } from './hex-text.ts'

const whole = z
  .string()
  .regex(/^\d{1,78}$/, 'must be a whole number as text')
  .transform(BigInt)

/** A payment that we take, as PAYMENT-REQUIRED lists it. */
export type PaymentRequirements = {
  readonly scheme: 'exact'
  /** The network in the form of CAIP-2. */
  readonly network: string
  /** In the token's own units. */
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: {
    readonly assetTransferMethod: 'eip3009'
    readonly name: string
    readonly version: string
  }
}

export type PaymentRequired = {
  readonly x402Version: 2
  readonly error: string
  readonly resource: {
    readonly url: string
    readonly description: string
    readonly mimeType: string
  }
  readonly accepts: readonly PaymentRequirements[]
}

/** PAYMENT-SIGNATURE; fields beside these go to the facilitator as they came. */
export const paymentPayload = z.looseObject({
  x402Version: z.literal(2),
  accepted: z.looseObject({
    scheme: z.string(),
    network: z.string(),
    amount: z.string(),
    asset: hexText(40),
    payTo: hexText(40),
  }),
  payload: z.looseObject({
    /** Longer than 65 bytes where the payer is a contract. */
    signature: z.string().regex(/^0x[0-9a-fA-F]{2,8192}$/, 'must be hexadecimal'),
    authorization: z.strictObject({
      from: hexText(40),
      to: hexText(40),
      value: whole,
      validAfter: whole,
      validBefore: whole,
      nonce: hexText(64),
    }),
  }),
})
export type PaymentPayload = z.infer<typeof paymentPayload>

/** The outcome of a settlement, in PAYMENT-RESPONSE. */
export type SettlementResponse = {
  readonly success: boolean
  readonly errorReason?: string
  readonly payer?: string
  /** Empty where it failed. */
  readonly transaction: string
  readonly network: string
}

export const PAYMENT_REQUIRED = 'payment-required'
export const PAYMENT_SIGNATURE = 'payment-signature'
export const PAYMENT_RESPONSE = 'payment-response'

export const encodePaymentHeader = (value: PaymentRequired | SettlementResponse): string =>
  Buffer.from(JSON.stringify(value)).toString('base64')
