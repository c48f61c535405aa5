// The process of webhooks as a cell, started with the first endpoint of the node.
import type { AgentCore } from '#node/agent-part.ts'
import { WEBHOOKS_CELL } from '#node/cell-names.ts'
import { programCell } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { startAtFirst } from '#node/start-at-first.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { webhookKeyOf } from '#webhooks/delivery/secrets.ts'
import type { WebhooksConfig } from '#webhooks/programs/webhooks.ts'

export const WEBHOOKS_PROGRAM: Program = {
  file: 'webhooks/programs/webhooks.ts',
  flags: [ONE_COLLECTOR],
}

/** Resolves when the cell was started, or the signal aborts. */
export const startAtFirstEndpoint = (
  core: AgentCore,
  networks: readonly string[],
  signal: AbortSignal,
): Promise<void> =>
  startAtFirst(
    core,
    {
      channel: 'ergon_webhook_changes',
      query: 'select from webhook_endpoints limit 1',
      start: () => startCell(core, networks),
      failing: 'Webhooks are not sent',
    },
    signal,
  )

async function startCell(core: AgentCore, networks: readonly string[]): Promise<void> {
  const { cells, config, data, place, address, meterName } = core
  const journalFolder = data.at('journals', WEBHOOKS_CELL)
  const settings: Omit<WebhooksConfig, 'socket' | 'logLevel'> = {
    state: address,
    meter: meterName,
    journalFolder,
    journalSync: config.journalSync === 'sync',
    key: webhookKeyOf(data.secrets.state).reveal(),
    networks,
    servedPorts: core.servedPorts,
  }
  await cells.start(
    programCell(WEBHOOKS_PROGRAM, {
      name: WEBHOOKS_CELL,
      place,
      config: settings,
      socketGroup: WEBHOOKS_CELL,
      bills: true,
      writes: [journalFolder],
      calls: [STATE_SOCKETS],
    }),
  )
}
