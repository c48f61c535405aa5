// Webhooks in the agent: their process, and the addresses that it may call.
import { hostOfUrl, isLoopback, LOOPBACK } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { WEBHOOKS_CELL } from '#node/cell-names.ts'
import type { WebhooksGatewaySettings, WebhooksTaskSettings } from './settings.ts'
import { startAtFirstEndpoint, WEBHOOKS_PROGRAM } from './webhooks-cell.ts'

export const WEBHOOKS_AGENT: AgentProduct = {
  name: 'webhooks',
  programs: [WEBHOOKS_PROGRAM],
  journals: () => [WEBHOOKS_CELL],
  open,
}

function open(core: AgentCore): AgentPart {
  const { config, log } = core
  const networks = networksOf(config)
  const gateway: WebhooksGatewaySettings = {
    isOn: config.webhooks,
    networks,
    servedPorts: core.servedPorts,
  }
  const tasks: WebhooksTaskSettings = { logDays: config.webhookLogDays }
  const part = { gateway: { settings: gateway }, tasks: { settings: tasks } }
  if (!config.webhooks) return part
  const ending = new AbortController()
  let running: Promise<void> = Promise.resolve()
  return {
    ...part,
    cells: [{ stage: 'workers', name: WEBHOOKS_CELL }],
    async start() {
      running = startAtFirstEndpoint(core, networks, ending.signal).catch((error: unknown) =>
        log.error('Webhooks are not sent', { error }),
      )
    },
    async close() {
      ending.abort()
      await running
    },
  }
}

/** A service on loopback alone is for development: its receivers are on this machine too. */
function networksOf(config: Config): readonly string[] {
  const { host, baseUrl } = config
  if (config.webhookNetworks !== undefined) return config.webhookNetworks
  const isLocal =
    isLoopback(host) && (baseUrl === undefined || isLoopback(hostOfUrl(new URL(baseUrl))))
  return isLocal ? LOOPBACK : []
}
