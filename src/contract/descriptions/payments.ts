// Requests and replies of the routed operations of payments.
import { json, ok, type Descriptions } from '#contract/description.ts'
import * as payments from '#contract/payments.ts'
import type { PAYMENTS } from '#contract/products/payments.ts'

export const PAYMENTS_DESCRIPTIONS: Descriptions<typeof PAYMENTS> = {
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
