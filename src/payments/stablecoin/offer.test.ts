import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '#base/log.ts'
import { pusd } from '#base/units.ts'
import { ERRORS } from '#contract/errors.ts'
import { PAYMENT_REQUIRED } from '#contract/payments/x402.ts'
import { offer } from './offer.ts'

const CHAIN = {
  env: 'test' as const,
  network: 'eip155:31337',
  id: 31337n,
  token: `0x${'1'.repeat(40)}`,
  decimals: 6,
  name: 'Test Dollar',
  version: '2',
  receiver: `0x${'2'.repeat(40)}`,
  confirmations: 3,
  nodes: [],
}
const offered = (facilitator: { readonly url: Secret; readonly key: undefined } | undefined) =>
  offer({
    chains: [{ ...CHAIN, facilitator }],
    amount: pusd(20_000_000_000_000n),
    url: 'http://localhost:8080/v1/topups',
    account: 'acct_1',
  })

test('offer() names x402 where there is a facilitator, and says where there is none', () => {
  const byBoth = offered({ url: new Secret('http://localhost:1'), key: undefined })
  assert.equal(byBoth.message, 'Could not top up yet: the payment is missing')
  assert.ok(PAYMENT_REQUIRED in byBoth.headers)
  const byTransfer = offered(undefined)
  assert.match(byTransfer.message, /is missing, and is taken by a transfer alone, not by x402$/)
  assert.ok(!(PAYMENT_REQUIRED in byTransfer.headers))
  // The advice is the same for both.
  assert.match(ERRORS.payment_required.help, /^Transfer the tokens/)
})
