// Evidence packs in the agent: their process, and the blob stores for it and the gateways.
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { settleBlobStores } from '#objects/settle-blob-stores.ts'
import { PACKS_CELL, PACKS_PROGRAM, startAtFirstPack } from './packs-cell.ts'
import type { ComplianceGatewaySettings, ComplianceTaskSettings } from './settings.ts'

export const COMPLIANCE_AGENT: AgentProduct = {
  name: 'compliance',
  programs: [PACKS_PROGRAM],
  journals: () => [PACKS_CELL],
  open,
}

async function open(core: AgentCore, signal: AbortSignal): Promise<AgentPart> {
  const { config, data, state, log } = core
  const blobs = await settleBlobStores({ config, data, state, log, signal })
  const gateway: ComplianceGatewaySettings = { blobs, keptDays: config.evidenceDays }
  const tasks: ComplianceTaskSettings = { keptDays: config.evidenceDays }
  const ending = new AbortController()
  let running: Promise<void> = Promise.resolve()
  return {
    gateway: { settings: gateway },
    tasks: { settings: tasks },
    cells: [{ stage: 'workers', name: PACKS_CELL }],
    async start() {
      running = startAtFirstPack(core, blobs, ending.signal).catch((error: unknown) =>
        log.error('Evidence packs are not made', { error }),
      )
    },
    async close() {
      ending.abort()
      await running
    },
  }
}
