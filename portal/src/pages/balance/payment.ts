// A payment as the API lists it, and whether it can be taken back.
import type { ReplyOf } from '#console/client/operations.ts'

export type Topup = ReplyOf<'GET /v1/topups'>['data'][number]

/** By card, while the payer or the processor has not decided. */
export const isOpen = ({ status, transfer }: Topup): boolean =>
  transfer === null && (status === 'created' || status === 'requires_action')

/** Paid, and not given back whole; how much of it is left to give back, the API says. */
export const isRefundable = ({ status, amount_pusd, refunded_pusd }: Topup): boolean =>
  status === 'captured' && BigInt(refunded_pusd) < BigInt(amount_pusd)
