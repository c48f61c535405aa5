// Honest calls of the operations of payments, for the matrix.
import type { Row } from './matrix-row.ts'

const CODE = '0000-0000-0000-0000-0000-0000'

export const PAYMENTS_ROWS: Readonly<Record<string, Row>> = {
  'balance.get': { path: () => '/v1/balance' },
  'ledger.list': { path: () => '/v1/ledger?limit=3' },
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
