// The process of the status page as a cell, from the start of the node on.
import { isLoopback } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { GATEWAY_SOCKETS, gatewayNames, INGRESS_CELL, WEBHOOKS_CELL } from '#node/cell-names.ts'
import { programCell, socketOf } from '#node/cell-specs.ts'
import { FUNCTIONS_PORT_OFFSET, PORTAL_PORT_OFFSET, STATUS_PORT_OFFSET } from '#node/ports.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { portalUrl, statusUrl } from '#node/report.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import type { StatusPageConfig } from './programs/status-page.ts'

export const STATUS_PROGRAM: Program = {
  file: 'status/programs/status-page.ts',
  flags: [ONE_COLLECTOR],
}
export const STATUS_CELL = 'status-page'
const FOLDER = 'status'

/** Starts it; the page may answer a moment later. */
export async function startStatusPage(core: AgentCore): Promise<void> {
  const { cells, config, data, place, address } = core
  const folder = data.at(FOLDER)
  const portal = portalUrl(core)
  const settings: Omit<StatusPageConfig, 'socket' | 'logLevel'> = {
    state: address,
    folder,
    url: statusUrl(core),
    region: config.region,
    periodMs: config.statusSeconds * 1000,
    listen: { host: statusHost(config), port: data.port + STATUS_PORT_OFFSET },
    api: { host: config.host, port: data.port },
    takesPayments: takesPayments(config),
    ...(portal !== null && {
      portal: { port: data.port + PORTAL_PORT_OFFSET, host: new URL(portal).host },
    }),
    ...(config.databases ? { pgPort: data.pgPort } : {}),
    gatewaySockets: gatewayNames(config).map((name) => socketOf(place, GATEWAY_SOCKETS, name)),
    ingress: {
      socket: socketOf(place, INGRESS_CELL, INGRESS_CELL),
      port: data.port + FUNCTIONS_PORT_OFFSET,
    },
    webhooksSocket: socketOf(place, WEBHOOKS_CELL, WEBHOOKS_CELL),
  }
  await cells.start(
    programCell(STATUS_PROGRAM, {
      name: STATUS_CELL,
      place,
      config: settings,
      socketGroup: STATUS_CELL,
      writes: [folder],
      calls: [STATE_SOCKETS, GATEWAY_SOCKETS, INGRESS_CELL, WEBHOOKS_CELL],
    }),
  )
}

/** Plain HTTP is for loopback: elsewhere it listens only where a proxy with TLS is said to be in front. */
export const statusHost = ({ host, statusUrl: url }: Pick<Config, 'host' | 'statusUrl'>): string =>
  url === undefined && !isLoopback(host) ? '127.0.0.1' : host

/** True where money can come in at all; without a processor and a chain only vouchers do. */
const takesPayments = (config: Config): boolean =>
  (config.cardKey !== undefined && config.cardWebhookSecret !== undefined) ||
  config.testProcessorPort !== undefined ||
  config.stablecoins.length > 0
