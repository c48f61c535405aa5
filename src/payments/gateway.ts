// Payments in a gateway: the balance, the ledger of the account, and the ways in which money comes.
import {
  parseAccountChange,
  parseMethodRequest,
  parseRefundRequest,
  parseTopupRequest,
  parseVoucherRequest,
} from '#contract/payments/payments.ts'
import { paymentRecords } from './account-records.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createPosted } from '#ledger/posted.ts'
import { createAccountGet } from './operations/account-get.ts'
import { createAccountUpdate } from './operations/account-update.ts'
import { sqlIsoTime } from '#state/iso-time.ts'
import { findNamed } from '#http/find-named.ts'
import { createBalanceGet } from './operations/balance-get.ts'
import { createLedgerList } from './operations/ledger-list.ts'
import { createMethodCreate } from './operations/payment-method-create.ts'
import { createMethodDelete } from './operations/payment-method-delete.ts'
import { createMethodList } from './operations/payment-method-list.ts'
import { createPaymentWebhook, WEBHOOK_BYTES_MAX } from './operations/payment-webhook.ts'
import { createTopupCancel } from './operations/topup-cancel.ts'
import { createTopupCreate } from './operations/topup-create.ts'
import { createTopupGet, createTopupList } from './operations/topup-get.ts'
import { createTopupRefund } from './operations/topup-refund.ts'
import { createVoucherRedeem } from './operations/voucher-redeem.ts'
import { openAdapters, type PaymentsSettings } from './settings.ts'
import { openChains } from './stablecoin/chains.ts'

const LIVE_BALANCE = `select json_build_object('unit', case a.env when 'test' then 'tUSD' else 'USD' end,
    'balance_pusd', coalesce(w.posted, 0)::text, 'depleted_since', ${sqlIsoTime('a.depleted_at')})
  from (select) one left join wallets w on w.id = 'money:' || a.id`

export const PAYMENTS_GATEWAY: GatewayProduct<PaymentsSettings> = { name: 'payments', open }

function open(
  { readers: state, session, secret }: GatewayCore,
  settings: PaymentsSettings,
): GatewayPart {
  const posted = createPosted({ state, post: (signal) => session.tickNow(signal) })
  const adapters = openAdapters(settings)
  const { topUpUrl, topUpApi, stablecoins } = settings
  const chains = openChains(stablecoins)
  const deps = { state, adapters, posted, topUpUrl, secret, chains, url: topUpApi }
  const wayOut = { top_up_url: topUpUrl }
  return {
    refusalFacts: { balance_depleted: wayOut, free_tier_exceeded: wayOut },
    endpoints: {
      'account.get': { handle: createAccountGet(deps) },
      'account.update': { parse: parseAccountChange, handle: createAccountUpdate(deps) },
      'balance.get': { handle: createBalanceGet(deps) },
      'ledger.list': { handle: createLedgerList(deps) },
      'topup.create': { parse: parseTopupRequest, handle: createTopupCreate(deps) },
      'topup.list': { handle: createTopupList(deps) },
      'topup.get': { handle: createTopupGet(deps) },
      'topup.cancel': { handle: createTopupCancel(deps) },
      'topup.refund': { parse: parseRefundRequest, handle: createTopupRefund(deps) },
      'payment-method.create': { parse: parseMethodRequest, handle: createMethodCreate(deps) },
      'payment-method.list': { handle: createMethodList(deps) },
      'payment-method.delete': { handle: createMethodDelete(deps) },
      'payment.webhook': { bytesMax: WEBHOOK_BYTES_MAX, handle: createPaymentWebhook(deps) },
      'voucher.redeem': { parse: parseVoucherRequest, handle: createVoucherRedeem(deps) },
    },
    account: { records: paymentRecords(state) },
    lookups: {
      pay: {
        kind: 'topup',
        find: findNamed(
          state,
          `select kind as name, '/v1/topups/' || id as path from payments where account = $1 and id = $2`,
        ),
      },
      refund: {
        kind: 'refund',
        find: findNamed(
          state,
          `select 'refund' as name, '/v1/topups/' || p.id as path from payment_refunds r
           join payments p on p.id = r.payment where p.account = $1 and r.id = $2`,
        ),
      },
      card: {
        kind: 'payment_method',
        find: findNamed(
          state,
          `select label as name, '/v1/payment-methods' as path from payment_methods where account = $1 and id = $2`,
        ),
      },
    },
    live: { balance: LIVE_BALANCE },
  }
}
