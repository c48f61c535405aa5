// Requests and replies of the routed operations of payments.
import { json, ok, type Descriptions } from '#contract/description.ts'
import * as payments from './payments.ts'
import type { PAYMENTS } from './operations.ts'

export const PAYMENTS_DESCRIPTIONS: Descriptions<typeof PAYMENTS> = {
  'account.get': {
    summary: 'The account: its kind of money, its low-water mark, its automatic top-ups',
    replies: ok('The account', json(payments.accountReply)),
  },
  'account.update': {
    summary: 'Change the low-water mark or the automatic top-ups',
    request: payments.accountChange,
    replies: ok('The account', json(payments.accountReply)),
    refusals: ['payments_off', 'payment_method_not_found'],
  },
  'topup.create': {
    summary:
      'Pay into the balance by card or stablecoin, or hold $5; the money counts once the processor told so or the chain has it',
    request: payments.topupRequest,
    replies: { 201: { help: 'The payment, under way', media: json(payments.topupReply) } },
    refusals: [
      'payments_off',
      'payment_method_not_found',
      'payment_declined',
      'payment_required',
      'payment_invalid',
      'transfer_pending',
      'transfer_refused',
      'transfer_claimed',
      'hold_exists',
      'too_many_payments',
      'payment_pace_exceeded',
      'payment_processor_away',
    ],
  },
  'topup.list': {
    summary: 'The payments of the account, the newest first',
    query: payments.topupListQuery,
    replies: ok('The payments after the cursor', json(payments.topupList)),
  },
  'topup.get': {
    summary: 'A payment',
    replies: ok('The payment', json(payments.topupReply)),
    refusals: ['topup_not_found'],
  },
  'topup.cancel': {
    summary: 'Give up a payment by card that waits for the payer or the processor',
    replies: ok('The payment, voided at the processor', json(payments.topupReply)),
    refusals: ['topup_not_found', 'topup_not_cancelable', 'payments_off', 'payment_processor_away'],
  },
  'topup.refund': {
    summary: 'Give back what is not spent of a payment',
    request: payments.refundRequest,
    replies: { 201: { help: 'The refund, under way', media: json(payments.refundReply) } },
    refusals: ['topup_not_found', 'refund_exceeds', 'payments_off', 'payment_processor_away'],
  },
  'payment-method.create': {
    summary: 'Add a card; its number goes to the processor and never here',
    request: payments.methodRequest,
    replies: { 201: { help: 'The card, on its way', media: json(payments.methodReply) } },
    refusals: [
      'payments_off',
      'payment_declined',
      'too_many_cards',
      'payment_pace_exceeded',
      'payment_processor_away',
    ],
  },
  'payment-method.list': {
    summary: 'The cards of the account',
    replies: ok('The cards', json(payments.methodList)),
  },
  'payment-method.delete': {
    summary: 'Remove a card',
    replies: ok('It is removed', json(payments.methodDeleted)),
    refusals: ['payment_method_not_found', 'payment_processor_away'],
  },
  'payment.webhook': {
    summary:
      'What a payment processor tells, signed by it: the only way in which a payment becomes balance',
    replies: ok('What became of it', json(payments.paymentWebhookReply)),
    refusals: [
      'not_found',
      'webhook_forged',
      'webhook_late',
      'state_unavailable',
      'payment_processor_away',
    ],
  },
  'balance.get': {
    summary: 'The balance of the account, and the lots that it is made of',
    replies: ok('The balance', json(payments.balanceReply)),
  },
  'ledger.list': {
    summary: 'Each posting of the account’s money, the newest first; as CSV by Accept: text/csv',
    query: payments.ledgerQuery,
    replies: ok('The entries after the cursor', {
      ...json(payments.ledgerList),
      'text/csv': null,
    }),
  },
  'voucher.redeem': {
    summary: 'Redeem a voucher: its points become balance',
    request: payments.voucherRequest,
    replies: ok('It is redeemed', json(payments.voucherReply)),
    refusals: ['voucher_not_found', 'voucher_used'],
  },
}
