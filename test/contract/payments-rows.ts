// Honest calls of the operations of payments, for the matrix, whose product has no processor of cards.
import type { Row } from './matrix-row.ts'

const CODE = '0000-0000-0000-0000-0000-0000'

const TRANSFER = {
  network: 'eip155:31337',
  transaction: `0x${'0'.repeat(64)}`,
  signature: `0x${'0'.repeat(130)}`,
}

export const PAYMENTS_ROWS: Readonly<Record<string, Row>> = {
  'account.get': { path: () => '/v1/account' },
  'account.update': {
    path: () => '/v1/account',
    body: { low_water: '2.50' },
    badBodies: [
      { body: {}, param: null },
      { body: { low_water: 2.5 }, param: 'low_water' },
      { body: { low_water: '-1' }, param: 'low_water' },
      { body: { auto_topup: { amount: '20' } }, param: 'auto_topup.below' },
      {
        body: { auto_topup: { amount: '20', below: '90', month_max: '10' } },
        param: 'auto_topup.month_max',
      },
      { body: { name: 'mine' }, param: 'name' },
    ],
  },
  'balance.get': { path: () => '/v1/balance' },
  'ledger.list': { path: () => '/v1/ledger?limit=3' },
  'topup.create': {
    path: () => '/v1/topups',
    body: { amount: '5.00' },
    statuses: [409],
    badBodies: [
      { body: {}, param: 'amount' },
      { body: { amount: 5 }, param: 'amount' },
      { body: { amount: '0.99' }, param: 'amount' },
      { body: { amount: '10000.01' }, param: 'amount' },
      { body: { amount: '5.001' }, param: 'amount' },
      { body: { amount: '-5' }, param: 'amount' },
      { body: { amount: '5', hold: true }, param: 'amount' },
      { body: { amount: '5', unit: 'EUR' }, param: 'unit' },
      { body: { amount: '5', currency: 'usd' }, param: 'currency' },
      { body: { amount: '5', method: 'cash' }, param: 'method' },
      {
        body: { amount: '5', method: 'stablecoin', payment_method: 'card_0' },
        param: 'payment_method',
      },
      { body: { transfer: TRANSFER }, param: 'method' },
      { body: { amount: '5', method: 'stablecoin', transfer: TRANSFER }, param: 'amount' },
      {
        body: { method: 'stablecoin', transfer: { ...TRANSFER, signature: '0x' } },
        param: 'transfer.signature',
      },
    ],
  },
  'topup.list': { path: () => '/v1/topups?limit=3' },
  'topup.get': { path: () => '/v1/topups/pay_0', statuses: [404] },
  'topup.cancel': { path: () => '/v1/topups/pay_0', statuses: [404] },
  'topup.refund': {
    path: () => '/v1/topups/pay_0/refunds',
    body: {},
    statuses: [404],
    badBodies: [
      { body: { amount: '0' }, param: 'amount' },
      { body: { amount: 1 }, param: 'amount' },
      { body: { reason: 'none' }, param: 'reason' },
    ],
  },
  'payment-method.create': {
    path: () => '/v1/payment-methods',
    body: { type: 'card', token: 'pm_card_visa' },
    statuses: [409],
    badBodies: [
      { body: {}, param: 'type' },
      { body: { type: 'cash' }, param: 'type' },
      { body: { type: 'card', token: '4242424242424242' }, param: 'token' },
      { body: { type: 'card', number: '4242424242424242' }, param: 'number' },
    ],
  },
  'payment-method.list': { path: () => '/v1/payment-methods' },
  'payment-method.delete': { path: () => '/v1/payment-methods/card_0', statuses: [404] },
  'payment.webhook': { path: () => '/v1/payment-webhooks/none', body: {}, statuses: [404] },
  'voucher.redeem': {
    path: () => '/v1/vouchers/redeem',
    body: { code: CODE },
    // No voucher has it.
    statuses: [404],
    badBodies: [
      { body: {}, param: 'code' },
      { body: { code: 'short' }, param: 'code' },
      { body: { code: CODE, amount: '5' }, param: 'amount' },
    ],
  },
}
