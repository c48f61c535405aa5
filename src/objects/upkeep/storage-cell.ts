// The cell that keeps object storage: under the gateways' uid, as it deletes what they wrote.
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import type { StorageConfig } from '#objects/programs/storage.ts'
import type { StateAddress } from '#state/connect.ts'
import { programCell, START_TIMEOUT_MS, type ProgramPlace } from '#node/cell-specs.ts'
import type { DataFolder } from '#node/data-folder.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'

export const STORAGE_PROGRAM: Program = {
  file: 'objects/programs/storage.ts',
  flags: [ONE_COLLECTOR],
}
export const STORAGE_CELL = 'storage'

/** Starts it; resolves when it answers. */
export async function startStorageUpkeep(deps: {
  config: Config
  cells: Cells
  data: DataFolder
  place: ProgramPlace
  address: StateAddress
  blobs: BlobSettings
  meter: string
  signal: AbortSignal
}): Promise<void> {
  const { config, cells, data, place, address, blobs, meter, signal } = deps
  const journalFolder = data.at('journals', STORAGE_CELL)
  const settings: Omit<StorageConfig, 'socket' | 'logLevel'> = {
    state: address,
    blobs,
    journalFolder,
    journalSync: config.journalSync === 'sync',
    meter,
    stateKey: data.secrets.state,
    keyIds: config.storageKmsKeys,
    dayMs: config.storageDayS * 1000,
    minuteMs: config.storageMinuteS * 1000,
    power: {
      milliwattsPerTb: config.storageMilliwattsPerTb,
      pueMilli: Number(config.pueMilli),
    },
  }
  const cell = await cells.start(
    programCell(STORAGE_PROGRAM, {
      name: STORAGE_CELL,
      user: 'gateway',
      place,
      config: settings,
      socketGroup: STORAGE_CELL,
      writes: [journalFolder, blobs.folder],
      calls: [STATE_SOCKETS],
    }),
  )
  await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
}
