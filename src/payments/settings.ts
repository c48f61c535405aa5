// The settings of payments for the gateways and the process of tasks, as JSON, and the adapters that they open.
import { createHmac } from 'node:crypto'
import { Secret } from '#base/log.ts'
import type { Config } from '#config/config.ts'
import type { PaymentAdapter } from './adapter.ts'
import { createCardAdapter } from './card/card-adapter.ts'
import { chainConfig, type ChainConfig } from './stablecoin/chains.ts'

/** A card processor with its secrets in the clear. */
type CardConfig = {
  readonly name: string
  readonly env: 'live' | 'test'
  readonly url: string
  readonly key: string
  readonly webhookSecret: string
  readonly returnUrl: string
}
export type PaymentsSettings = {
  readonly cards: readonly CardConfig[]
  readonly stablecoins: readonly ChainConfig[]
  readonly topUpUrl: string
  /** The address of POST /v1/topups, as callers see it. */
  readonly topUpApi: string
}

export const TEST_CARDS = 'card-test'
const LIVE_CARDS = 'card-live'

/** `api` and `portal` are addresses without a slash at their ends, null without a portal; `secret` is that of the data folder. */
export function paymentsSettings(
  config: Config,
  {
    api,
    portal,
    secret,
  }: { readonly api: string; readonly portal: string | null; readonly secret: string },
): PaymentsSettings {
  const topUpUrl = config.topUpUrl ?? (portal === null ? `${api}/v1/topups` : `${portal}/balance`)
  const cards: CardConfig[] = []
  const key = config.cardKey?.reveal()
  const webhookSecret = config.cardWebhookSecret?.reveal()
  if (key !== undefined && webhookSecret !== undefined) {
    const env = /^.k_live_/.test(key) ? 'live' : 'test'
    const name = env === 'live' ? LIVE_CARDS : TEST_CARDS
    cards.push({ name, env, url: config.cardUrl, key, webhookSecret, returnUrl: topUpUrl })
  }
  if (config.testProcessorPort !== undefined)
    cards.push({
      name: TEST_CARDS,
      env: 'test',
      url: `http://127.0.0.1:${config.testProcessorPort}`,
      ...testProcessorSecrets(secret),
      returnUrl: topUpUrl,
    })
  const stablecoins = config.stablecoins.map(chainConfig)
  return { cards, stablecoins, topUpUrl, topUpApi: `${api}/v1/topups` }
}

/** The secrets that the embedded processor shares with its callers. */
export function testProcessorSecrets(secret: string) {
  const derive = (use: string) =>
    createHmac('sha256', secret).update(`ergon test processor ${use}`).digest('hex').slice(0, 32)
  return { key: `sk_test_${derive('key')}`, webhookSecret: `whsec_${derive('webhooks')}` }
}

export const openAdapters = ({ cards }: PaymentsSettings): PaymentAdapter[] =>
  cards.map(({ key, webhookSecret, ...card }) =>
    createCardAdapter({
      ...card,
      key: new Secret(key),
      webhookSecret: new Secret(webhookSecret),
    }),
  )

/** The processor of an account's kind of money. */
export const adapterOf = (
  adapters: readonly PaymentAdapter[],
  env: 'live' | 'test' | undefined,
): PaymentAdapter | undefined => adapters.find((adapter) => adapter.env === env)
