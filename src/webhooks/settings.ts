// Settings that the agent gives to the other halves of webhooks.

export type WebhooksGatewaySettings = {
  readonly isOn: boolean
  /** Addresses that are permitted although they are not public. */
  readonly networks: readonly string[]
  /** Ports of the service, which may be asked at this machine's public addresses. */
  readonly servedPorts: readonly number[]
}

export type WebhooksTaskSettings = {
  /** Days for which deliveries are kept. */
  readonly logDays: number
}
