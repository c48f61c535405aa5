// The process of webhooks as a cell, started with the first endpoint of the node.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { programCell } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { webhookKeyOf } from '#webhooks/delivery/secrets.ts'
import type { WebhooksConfig } from '#webhooks/programs/webhooks.ts'

export const WEBHOOKS_PROGRAM: Program = {
  file: 'webhooks/programs/webhooks.ts',
  flags: [ONE_COLLECTOR],
}
export const WEBHOOKS_CELL = 'webhooks'
/** A missed notification waits for this. */
const AGAIN_MS = 15_000

/** Resolves when the cell was started, or the signal aborts. */
export async function startAtFirstEndpoint(
  core: AgentCore,
  networks: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { state, log } = core
  let waiting = new AbortController()
  await using _ = await state.listen('ergon_webhook_changes', () => waiting.abort())
  while (!signal.aborted) {
    waiting = new AbortController()
    try {
      const { rowCount } = await state.query('select from webhook_endpoints limit 1')
      if (rowCount > 0) return await startCell(core, networks)
    } catch (error) {
      log.warn('Webhooks are not sent', { error: messageOf(error) })
    }
    await sleep(AGAIN_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
  }
}

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
