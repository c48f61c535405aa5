// The settings of payments: the card processor, the embedded test processor, stablecoins, the page for top-ups.
import { z } from 'zod'
import { port, secret } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'
import { stablecoins } from '#config/stablecoins.ts'

export const PAYMENTS_SETTINGS = {
  cardKey: {
    name: 'ERGON_CARD_KEY',
    flag: 'card-key-file',
    isSecret: true,
    help: "Stripe's secret key, sk_live_… for live accounts, sk_test_… for test accounts",
    check: z
      .string()
      .regex(/^(sk|rk)_(live|test)_\w{8,}$/, 'must be a secret key, sk_live_… or sk_test_…')
      .pipe(secret)
      .optional(),
  },
  cardWebhookSecret: {
    name: 'ERGON_CARD_WEBHOOK_SECRET',
    flag: 'card-webhook-secret-file',
    isSecret: true,
    help: 'Signing secret of the endpoint that Stripe sends its webhooks to, whsec_…',
    check: z
      .string()
      .regex(/^whsec_\S{8,}$/, 'must be a signing secret, whsec_…')
      .pipe(secret)
      .optional(),
  },
  cardUrl: {
    name: 'ERGON_CARD_URL',
    flag: 'card-url',
    help: 'Address of the card processor (default https://api.stripe.com)',
    check: z.url({ protocol: /^https?$/ }).default('https://api.stripe.com'),
  },
  testProcessorPort: {
    name: 'ERGON_TEST_PROCESSOR_PORT',
    flag: 'test-processor-port',
    help: 'Port on 127.0.0.1 of an embedded card processor for test money: no funds move (default: none)',
    check: port.optional(),
  },
  stablecoins: {
    name: 'ERGON_STABLECOINS',
    flag: 'stablecoins-file',
    isSecret: true,
    help: 'Stablecoins to pay with, as JSON: [{"network": "eip155:8453", "token", "decimals", "name", "version", "receiver", "nodes", "confirmations", "facilitator", "facilitator_key"}]; the guide of money explains them (default: none)',
    check: stablecoins.default([]),
  },
  topUpUrl: {
    name: 'ERGON_TOP_UP_URL',
    flag: 'top-up-url',
    help: 'Page on which accounts top up, named in 402; payers come back to it from their bank (default: Balance of the portal, /v1/topups of the API without a portal)',
    check: z.url({ protocol: /^https?$/ }).optional(),
  },
} satisfies Settings
