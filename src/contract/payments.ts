// Requests and replies of payments. Amounts are whole pico-dollars as text; people write dollars as decimals.
import { z } from 'zod'
import { ownObject } from './own-object.ts'
import { parseWith } from './parse.ts'

export const LEDGER_KINDS = [
  'charge',
  'topup',
  'hold',
  'voucher',
  'grant',
  'test_funds',
  'expired',
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

export const voucherReply = z.object({
  object: z.literal('voucher'),
  id: z.string(),
  amount_pusd: wholeText,
  unit,
  /** Of the money that it brought; null: never. */
  expires_at: time.nullable(),
})

export const balanceReply = z.object({
  object: z.literal('balance'),
  /** tUSD is test money: no funds move. */
  unit,
  balance_pusd: wholeText,
  /** The part of it that running work holds. */
  reserved_pusd: wholeText,
  available_pusd: wholeText,
  /** True once funds were on file: from then on the balance pays, never the free tier. */
  funded: z.boolean(),
  low_water_pusd: wholeText,
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
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
})

export const ledgerEntry = z.object({
  /** That of the receipt, or of the transfer. */
  id: z.string(),
  at: time,
  kind: z.enum(LEDGER_KINDS),
  /** The gain of the balance; below zero a loss. */
  amount_pusd: wholeText,
  /** Of a charge. */
  request_id: z.string().nullable(),
  service: z.string().nullable(),
  operation: z.string().nullable(),
  model: z.string().nullable(),
  energy_nj: wholeText.nullable(),
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
  /** Of all entries that the filters leave, on the first page; null on others. */
  sums: z
    .object({
      entries: z.int().min(0),
      in_pusd: wholeText,
      out_pusd: wholeText,
      energy_nj: wholeText,
    })
    .nullable(),
})
