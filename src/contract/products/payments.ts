// Payments: the money of an account, how it comes in, and each posting of it.
import { look, ownView } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

/** Answered too when the balance is empty: that is when money must come in. */
const money = { ...look, service: 'payments', remembered: false, answeredUnpaid: true } as const
const view = { ...ownView, service: 'payments', remembered: false } as const

export const PAYMENTS = defineProduct({
  operations: {
    'balance.get': view,
    'ledger.list': view,
    'voucher.redeem': { ...money, scope: 'billing-admin', idempotent: true },
  },
  routes: [
    { method: 'GET', path: '/v1/balance', operation: 'balance.get', query: [] },
    {
      method: 'GET',
      path: '/v1/ledger',
      operation: 'ledger.list',
      query: ['from', 'to', 'service', 'kind', 'id', 'limit', 'cursor'],
    },
    {
      method: 'POST',
      path: '/v1/vouchers/redeem',
      operation: 'voucher.redeem',
      query: [],
    },
  ],
})
