// Requests and replies of payments. Amounts are whole pico-dollars as text; people write dollars as decimals.
import { z } from 'zod'
import { pageQuery } from '#contract/values/list-page.ts'
import { ROLES } from '#contract/identity/roles.ts'
import { hexText } from './hex-text.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'

export const LEDGER_KINDS = [
  'charge',
  'topup',
  'hold',
  'voucher',
  'grant',
  'test_funds',
  'expired',
  'taken_back',
  'refund',
  'refund_returned',
  'dispute_won',
] as const
export type LedgerKind = (typeof LEDGER_KINDS)[number]

const wholeText = z.string().regex(/^-?\d+$/)
const time = z.iso.datetime()
export const unit = z.enum(['USD', 'tUSD'])

/** The code of a voucher: 120 bits in groups of four, as people type it. */
const VOUCHER = /^[0-9a-z]{4}(-?[0-9a-z]{4}){5}$/i

export const voucherRequest = ownObject({
  code: z.string().regex(VOUCHER, 'must be a code such as 2kdq-8w3v-…'),
})
export type VoucherRequest = z.infer<typeof voucherRequest>

/** Throws invalid_request. */
export const parseVoucherRequest = (json: unknown): VoucherRequest =>
  parseWith(voucherRequest, json)

/** Dollars with cents at most, from $1 to $10,000; the hold at the sign-up is HOLD_USD. */
const AMOUNT = /^(\d{1,5})(?:\.(\d{2}))?$/
export const AMOUNT_USD_MIN = 1
export const AMOUNT_USD_MAX = 10_000
const CENTS = 100
const CENT_PUSD = 10_000_000_000n
export const HOLD_USD = '5.00'

/** Pico-dollars of an amount such as 20 or 20.00; undefined where it is none. */
export function pusdOfAmount(text: string): bigint | undefined {
  const [, dollars, cents = '00'] = AMOUNT.exec(text) ?? []
  return dollars === undefined ? undefined : BigInt(dollars + cents) * CENT_PUSD
}

/** Pico-dollars of any decimal, as text. */
export function pusdOfDollars(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(12, '0')).toString()
}

const isFrom =
  (centsMin: number) =>
  (text: string): boolean => {
    const cents = Number((pusdOfAmount(text) ?? 0n) / CENT_PUSD)
    return cents >= centsMin && cents <= AMOUNT_USD_MAX * CENTS
  }
const amount = z
  .string()
  .refine(
    isFrom(AMOUNT_USD_MIN * CENTS),
    'must be dollars as text, from 1 to 10000 with two digits of cents, such as 20.00',
  )
const methodId = z.string().max(100)

export const transferClaim = ownObject({
  /** The network in the form of CAIP-2, such as eip155:8453. */
  network: z.string().max(60),
  transaction: hexText(64),
  /** By the sender of the transfer, of the text that `claim_text` of 402 payment_required has (EIP-191). */
  signature: hexText(130),
})
export type TransferClaim = z.infer<typeof transferClaim>

export const topupRequest = ownObject({
  amount: amount.optional(),
  /** That of the account: USD, or tUSD for test money. */
  unit: unit.optional(),
  /** Default: the newest that works. */
  payment_method: methodId.optional(),
  /** Holds $5 instead of taking them: captured with the first use, given back without one. By stablecoin they are paid. */
  hold: z.boolean().default(false),
  /** With stablecoin the first answer is 402 payment_required, which says how to pay. */
  method: z.enum(['card', 'stablecoin']).default('card'),
  /** A transfer that the payer made, in place of an amount. */
  transfer: transferClaim.optional(),
})
  .refine(
    ({ amount: given, hold, transfer }) =>
      [given !== undefined, hold, transfer !== undefined].filter(Boolean).length === 1,
    { message: 'must be given, or hold, or transfer: one of the three', path: ['amount'] },
  )
  .refine(({ method, transfer }) => transfer === undefined || method === 'stablecoin', {
    message: 'must be stablecoin for a transfer',
    path: ['method'],
  })
  .refine(({ method, payment_method: card }) => card === undefined || method === 'card', {
    message: 'is for cards',
    path: ['payment_method'],
  })
export type TopupRequest = z.infer<typeof topupRequest>

/** Throws invalid_request. */
export const parseTopupRequest = (json: unknown): TopupRequest => parseWith(topupRequest, json)

export const topupReply = z.object({
  id: z.string(),
  object: z.literal('topup'),
  kind: z.enum(['hold', 'topup', 'automatic']),
  processor: z.string(),
  amount_pusd: wholeText,
  unit,
  /** authorized: held and spendable; captured: paid. */
  status: z.enum([
    'created',
    'requires_action',
    'authorized',
    'captured',
    'voided',
    'expired',
    'failed',
    'disputed',
  ]),
  /** The code of the bank or processor where it failed. */
  reason: z.string().nullable(),
  /** The next step of the payer; null: none. */
  action: z.object({ url: z.string().nullable(), client_secret: z.string().nullable() }).nullable(),
  refunded_pusd: wholeText,
  /** The time until which a hold can be captured. */
  held_until: time.nullable(),
  /** The transfer of a payment by stablecoin, as the chain has it. */
  transfer: z
    .object({
      network: z.string(),
      token: z.string(),
      sender: z.string(),
      receiver: z.string(),
      /** In the token's own units. */
      units: wholeText,
      /** Null: in no block yet. */
      transaction: z.string().nullable(),
      confirmations: z.int().min(0),
      /** The confirmations from which on the money is balance. */
      confirmations_needed: z.int().min(1),
      /** No reorganisation can take it back any more. */
      final: z.boolean(),
    })
    .nullable(),
  created_at: time,
})
export type TopupReply = z.infer<typeof topupReply>

export const topupListQuery = z.object(pageQuery)
export const topupList = z.object({
  object: z.literal('list'),
  /** The newest first. */
  data: z.array(topupReply),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
})

export const refundRequest = ownObject({
  /** Default: what is left of it, in whole cents. */
  amount: z
    .string()
    .refine(
      isFrom(1),
      'must be dollars as text, from 0.01 to 10000.00 with two digits of cents, such as 2.50',
    )
    .optional(),
})
export type RefundRequest = z.infer<typeof refundRequest>

/** Throws invalid_request. */
export const parseRefundRequest = (json: unknown): RefundRequest => parseWith(refundRequest, json)

export const refundReply = z.object({
  id: z.string(),
  object: z.literal('refund'),
  topup: z.string(),
  amount_pusd: wholeText,
  unit,
  status: z.enum(['pending', 'succeeded', 'failed']),
})

export const methodRequest = ownObject({
  type: z.literal('card'),
  /** The token of a card that the processor has. Without a token, the payer enters a card on the page `action.url` of the answer. */
  token: z
    .string()
    .regex(/^pm_[A-Za-z0-9_]{1,100}$/, 'must be a token of the processor, pm_…')
    .optional(),
})
export type MethodRequest = z.infer<typeof methodRequest>

/** Throws invalid_request. */
export const parseMethodRequest = (json: unknown): MethodRequest => parseWith(methodRequest, json)

export const methodReply = z.object({
  id: z.string(),
  object: z.literal('payment_method'),
  type: z.literal('card'),
  processor: z.string(),
  label: z.string(),
  status: z.enum(['pending', 'active', 'failed', 'removed']),
  action: z.object({ url: z.string().nullable(), client_secret: z.string().nullable() }).nullable(),
  created_at: time,
})
export type MethodReply = z.infer<typeof methodReply>
export const methodList = z.object({
  object: z.literal('list'),
  data: z.array(methodReply),
  /** False: cards cannot be added, as no processor is set up for the money of the account. */
  takes_cards: z.boolean(),
  /** True: POST /v1/topups with the method stablecoin offers a payment. */
  takes_stablecoins: z.boolean(),
  has_more: z.literal(false),
  next_cursor: z.null(),
})
export const methodDeleted = z.object({
  id: z.string(),
  object: z.literal('payment_method'),
  deleted: z.literal(true),
})

/** Automatic top-ups: by `amount` when the balance is below `below`, at most `month_max` in a month of UTC. */
const autoTopup = ownObject({ amount, below: amount, month_max: amount }).refine(
  (rule) => (pusdOfAmount(rule.amount) ?? 0n) <= (pusdOfAmount(rule.month_max) ?? 0n),
  { message: 'must be amount or more', path: ['month_max'] },
)

const LOW_WATER = /^\d{1,6}(\.\d{1,12})?$/
export const accountChange = ownObject({
  /** The mark of balance.low, in dollars. */
  low_water: z.string().regex(LOW_WATER, 'must be dollars as text, such as 2.50').optional(),
  /** Null: none. */
  auto_topup: autoTopup.nullable().optional(),
}).refine((change) => Object.keys(change).length > 0, 'must have low_water or auto_topup')
export type AccountChange = z.infer<typeof accountChange>

/** Throws invalid_request. */
export const parseAccountChange = (json: unknown): AccountChange => parseWith(accountChange, json)

const autoTopupReply = z
  .object({
    amount_pusd: wholeText,
    below_pusd: wholeText,
    month_max_pusd: wholeText,
    /** Of this month of UTC, with those that are under way. */
    month_pusd: wholeText,
    /** Why it rests: three declines in a row. Setting it again begins anew. */
    stopped: z.boolean(),
  })
  .nullable()

export const accountReply = z.object({
  id: z.string(),
  object: z.literal('account'),
  /** The member of the request. */
  member: z.object({ id: z.string(), name: z.string(), role: z.enum(ROLES) }),
  env: z.enum(['live', 'test']),
  unit,
  status: z.enum(['active', 'deleting']),
  /** Of an account that is being deleted: until then it can be restored. */
  deletes_at: time.nullable(),
  funded: z.boolean(),
  low_water_pusd: wholeText,
  auto_topup: autoTopupReply,
  created_at: time,
})

/** To a processor: what became of its fact. */
export const paymentWebhookReply = z.object({ outcomes: z.array(z.string()) })

export const voucherReply = z.object({
  object: z.literal('voucher'),
  id: z.string(),
  amount_pusd: wholeText,
  unit,
  /** The end of the money that it brought; null: never. */
  expires_at: time.nullable(),
})

export const balanceReply = z.object({
  object: z.literal('balance'),
  /** tUSD is test money: no funds move. */
  unit,
  balance_pusd: wholeText,
  /** The part of it that running work holds. */
  reserved_pusd: wholeText,
  /** Kept for running cells: a minute of their power. */
  grace_pusd: wholeText,
  /** Kept for stored bytes: the charges of some days. */
  retention_pusd: wholeText,
  /** The balance without those three parts: what new work can have. */
  available_pusd: wholeText,
  /** Since when only the kept parts are left; null: new work can be paid. */
  depleted_since: time.nullable(),
  /** True once funds were on file: from then on the balance pays, never the free tier. */
  funded: z.boolean(),
  /** Free joules that are left until 00:00 UTC; null once the balance pays. */
  free_left_nj: wholeText.nullable(),
  low_water_pusd: wholeText,
  auto_topup: autoTopupReply,
  /** The page on which the account is topped up. */
  top_up_url: z.string(),
  /** The balance by origin, in the order in which it is spent. */
  lots: z.array(
    z.object({
      kind: z.enum(['funds', 'test', 'points', 'promotion']),
      remaining_pusd: wholeText,
      expires_at: time.nullable(),
      /** The payment or voucher that it came by; null for others. */
      reference: z.string().nullable(),
    }),
  ),
})

export const ledgerQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  /** A service, such as inference: charges alone. */
  service: z.string().optional(),
  kind: z.enum(LEDGER_KINDS).optional(),
  /** The id of a receipt, a request, a payment, a voucher or an entry. */
  id: z.string().optional(),
  ...pageQuery,
})

export const ledgerEntry = z.object({
  /** That of the receipt, or of the transfer. */
  id: z.string(),
  at: time,
  kind: z.enum(LEDGER_KINDS),
  /** The gain of the balance; below zero a loss. */
  amount_pusd: wholeText,
  /** The request of a charge. */
  request_id: z.string().nullable(),
  service: z.string().nullable(),
  operation: z.string().nullable(),
  model: z.string().nullable(),
  energy_nj: wholeText.nullable(),
  /** The resource that the request was for, where the charge names it. */
  resource: z.string().nullable(),
  /** The token that asked, where the charge names it. */
  token: z.string().nullable(),
  /** The method of most of a charge's energy, and its error band: those of its parts, weighted by energy. */
  method: z.string().nullable(),
  band_pct: wholeText.nullable(),
  /** The hash of its leaf in the log of receipts, in hex. */
  leaf_hash: z.string().nullable(),
  /** The payment, voucher or lot that a transfer belongs to. */
  reference: z.string().nullable(),
})
export type LedgerEntry = z.infer<typeof ledgerEntry>

export const ledgerList = z.object({
  object: z.literal('list'),
  unit,
  /** The newest first. */
  data: z.array(ledgerEntry),
  has_more: z.boolean(),
  /** The parameter `cursor` for the older entries that follow: all pages are of the moment of the first. */
  next_cursor: z.string().nullable(),
  /** The balance at the moment of the entries, on the first page; null on others. */
  balance_pusd: wholeText.nullable(),
  /** Sums of all entries that the filters leave, on the first page; null on others. */
  sums: z
    .object({
      entries: z.int().min(0),
      in_pusd: wholeText,
      out_pusd: wholeText,
      energy_nj: wholeText,
    })
    .nullable(),
})
