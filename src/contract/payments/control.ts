// The operator's operations on payments: vouchers and grants of points.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { hexText } from './hex-text.ts'
import { operatorKeyed } from '#contract/operator/operator-keyed.ts'
import { ownObject } from '#contract/values/own-object.ts'

const amount = z.string().regex(/^[1-9]\d{0,20}$/, 'must be a whole number of pUSD, as text')
const points = {
  pusd: amount,
  kind: z.enum(['points', 'promotion']).default('points'),
  /** Lower numbers are spent first; paid money has 50. */
  priority: z.int().min(0).max(100).default(20),
  /** Days that the money lives; by default for ever. */
  lives_days: z.int().min(1).max(3650).optional(),
}

const voucher = z.strictObject({
  id: z.string(),
  env: z.enum(['live', 'test']),
  pusd: z.string(),
  kind: z.string(),
  priority: z.int(),
  lives_days: z.int().nullable(),
  redeemable_until: z.string().nullable(),
  note: z.string(),
  created_at: z.string(),
  redeemed_at: z.string().nullable(),
  redeemed_by: z.string().nullable(),
})

const waitingRefund = z.strictObject({
  id: z.string(),
  payment: z.string(),
  account: z.string(),
  pusd: z.string(),
  network: z.string(),
  token: z.string(),
  /** In the token's own units. */
  units: z.string(),
  /** The wallet that paid, which gets the tokens. */
  receiver: z.string(),
  /** No reorganisation can take the payment back any more. */
  final: z.boolean(),
  created_at: z.string(),
})

export const PAYMENTS_CONTROL = {
  /** The codes are shown once; to a repetition under the key again, for a day. */
  'voucher.create': {
    request: ownObject({
      ...points,
      env: z.enum(['live', 'test']).default('test'),
      count: z.int().min(1).max(1000).default(1),
      /** Days until it can be redeemed no longer; by default never. */
      redeemable_days: z.int().min(1).max(3650).optional(),
      note: z.string().max(200).default(''),
      ...operatorKeyed,
    }),
    answer: z.array(z.strictObject({ id: z.string(), code: z.string() })),
  },
  /** The newest first, at most a thousand. */
  'voucher.list': { request: ownObject({}), answer: z.array(voucher) },
  'grant.create': {
    request: ownObject({ account: z.string(), ...points, ...operatorKeyed }),
    answer: z.strictObject({ id: z.string(), account: z.string(), pusd: z.string() }),
  },
  /** Refunds of stablecoin payments that wait for the operator to send the tokens; the oldest first, at most a thousand. */
  'refund.list': { request: ownObject({}), answer: z.array(waitingRefund) },
  /** The tokens were sent from our wallet, or `from` another one: the chain is asked. */
  'refund.settle': {
    request: ownObject({
      refund: z.string(),
      transaction: hexText(64),
      from: hexText(40).optional(),
    }),
    answer: z.strictObject({ refund: z.string(), transaction: z.string() }),
  },
  'refund.refuse': {
    request: ownObject({ refund: z.string() }),
    answer: z.strictObject({ refund: z.string() }),
  },
} satisfies ControlTable
