// Payments: the money of an account, how it comes in, and each posting of it.
import { withoutModel, ownView } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

/** Answered too when the balance is empty: that is when money must come in. */
const money = {
  ...withoutModel,
  service: 'payments',
  remembered: true,
  answeredUnpaid: true,
} as const
const write = { ...money, scope: 'billing-admin' } as const
/** At the portal a person confirms it with a passkey. */
const confirmed = { ...write, needsTouch: true } as const
const view = { ...ownView, service: 'payments', remembered: false } as const

export const PAYMENTS = defineProduct({
  operations: {
    'account.get': view,
    /** It may set top-ups that the service makes by itself; a suspended account may end them. */
    'account.update': { ...confirmed, answeredSuspended: true },
    'balance.get': view,
    'ledger.list': view,
    'topup.create': { ...confirmed, idempotent: true },
    'topup.list': view,
    'topup.get': view,
    'topup.cancel': write,
    'topup.refund': { ...confirmed, idempotent: true },
    'payment-method.create': { ...confirmed, idempotent: true },
    'payment-method.list': view,
    'payment-method.delete': { ...confirmed, answeredSuspended: true },
    'voucher.redeem': { ...write, idempotent: true },
    /** A payment processor asks it. */
    'payment.webhook': { ...withoutModel, service: 'payments', scope: null, remembered: false },
  },
  routes: [
    { method: 'GET', path: '/v1/account', operation: 'account.get', query: [] },
    { method: 'PATCH', path: '/v1/account', operation: 'account.update', query: [] },
    { method: 'GET', path: '/v1/balance', operation: 'balance.get', query: [] },
    {
      method: 'GET',
      path: '/v1/ledger',
      operation: 'ledger.list',
      query: ['from', 'to', 'service', 'kind', 'id', 'limit', 'cursor'],
    },
    { method: 'POST', path: '/v1/topups', operation: 'topup.create', query: [] },
    { method: 'GET', path: '/v1/topups', operation: 'topup.list', query: ['limit', 'cursor'] },
    { method: 'GET', path: '/v1/topups/:topup', operation: 'topup.get', query: [] },
    { method: 'DELETE', path: '/v1/topups/:topup', operation: 'topup.cancel', query: [] },
    { method: 'POST', path: '/v1/topups/:topup/refunds', operation: 'topup.refund', query: [] },
    {
      method: 'POST',
      path: '/v1/payment-methods',
      operation: 'payment-method.create',
      query: [],
    },
    { method: 'GET', path: '/v1/payment-methods', operation: 'payment-method.list', query: [] },
    {
      method: 'DELETE',
      path: '/v1/payment-methods/:method',
      operation: 'payment-method.delete',
      query: [],
    },
    { method: 'POST', path: '/v1/vouchers/redeem', operation: 'voucher.redeem', query: [] },
    { method: 'POST', path: '/v1/payment-webhooks/:processor', operation: 'payment.webhook' },
  ],
})
