// Settings that the agent gives to the other halves of webhooks.

export type WebhooksGatewaySettings = {
  readonly isOn: boolean
  /** Addresses that are permitted although they are not public. */
  readonly networks: readonly string[]
}

export type WebhooksTaskSettings = {
  /** Days for which deliveries are kept. */
  readonly logDays: number
}
