// Payments in a gateway: the balance, the ledger of the account, and the ways in which money comes.
import { parseVoucherRequest } from '#contract/payments.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createPosted } from '#ledger/posted.ts'
import { createBalanceGet } from './operations/balance-get.ts'
import { createLedgerList } from './operations/ledger-list.ts'
import { createVoucherRedeem } from './operations/voucher-redeem.ts'

export const PAYMENTS_GATEWAY: GatewayProduct = { name: 'payments', open }

function open({ readers: state, session, secret }: GatewayCore): GatewayPart {
  const posted = createPosted({ state, post: (signal) => session.tickNow(signal) })
  return {
    endpoints: {
      'balance.get': { handle: createBalanceGet({ state, posted }) },
      'ledger.list': { handle: createLedgerList({ state, posted }) },
      'voucher.redeem': {
        parse: parseVoucherRequest,
        handle: createVoucherRedeem({ state, secret, posted }),
      },
    },
  }
}
