// The process of evidence packs as a cell, started with the first pack: under the gateways' uid, as gateways read the
// blobs that it writes.
import type { BlobSettings } from '#blobs/stores.ts'
import type { PacksConfig } from '#compliance/programs/packs.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { programCell } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { startAtFirst } from '#node/start-at-first.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'

export const PACKS_PROGRAM: Program = {
  file: 'compliance/programs/packs.ts',
  flags: [ONE_COLLECTOR],
}
export const PACKS_CELL = 'packs'

/** Resolves when the cell was started, or the signal aborts. */
export const startAtFirstPack = (
  core: AgentCore,
  blobs: BlobSettings,
  signal: AbortSignal,
): Promise<void> =>
  startAtFirst(
    core,
    {
      channel: 'ergon_packs',
      query: "select from evidence_packs where status in ('waiting', 'running') limit 1",
      start: () => startCell(core, blobs),
      failing: 'Evidence packs are not made',
    },
    signal,
  )

async function startCell(core: AgentCore, blobs: BlobSettings): Promise<void> {
  const { cells, config, data, place, address, meterName } = core
  const journalFolder = data.at('journals', PACKS_CELL)
  const settings: Omit<PacksConfig, 'socket' | 'logLevel'> = {
    state: address,
    meter: meterName,
    journalFolder,
    journalSync: config.journalSync === 'sync',
    blobs,
  }
  await cells.start(
    programCell(PACKS_PROGRAM, {
      name: PACKS_CELL,
      user: 'gateway',
      place,
      config: settings,
      socketGroup: PACKS_CELL,
      bills: true,
      writes: [blobs.folder, journalFolder],
      calls: [STATE_SOCKETS],
    }),
  )
}
