// What starts after the doors answer: signers, jobs and models, side by side, and the watch over the disk. What fails is said, and
// the rest goes on without it.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { toolEnvironment } from '#config/env.ts'
import { chosenModels } from '#inference/models/default-models.ts'
import { MODEL_CELLS } from '#node/cell-names.ts'
import { ModelFleet } from '#inference/models/fleet.ts'
import type { State, StateAddress } from '#state/connect.ts'
import { startBallast, type Ballast } from '#node/ballast.ts'
import { placeOf, type DataFolder } from '#node/data-folder.ts'
import { tellDisk } from '#node/disk-full.ts'
import type { Reporter } from '#node/report.ts'
import { startSealing } from '#receipts/sealing.ts'
import { startStorageUpkeep, STORAGE_CELL } from '#objects/upkeep/storage-cell.ts'
import type { StopBudget } from '#node/stop-budget.ts'

export interface Background {
  /** Begins; `complete` is called once, when everything has arrived or failed, with the failures in words. */
  start(complete: (failures: readonly string[]) => void): void
  /** Gives up what is on its way, then stops what runs: models, jobs, signers. */
  stop(budget: StopBudget): Promise<void>
}

const BALLAST_FILE = 'ballast'
const MIB = 1024 * 1024
// Callers before whom they call.
const STOP_ORDER = [
  { stage: 'workers', names: [MODEL_CELLS, 'jobs', STORAGE_CELL] },
  { stage: 'signers', names: ['signer-'] },
] as const

export function createBackground(deps: {
  config: Config
  data: DataFolder
  cells: Cells
  address: StateAddress
  blobs: BlobSettings
  meter: string
  fleet: ModelFleet
  log: Logger
}): Background {
  const { config, data, cells, address, blobs, meter, fleet, log } = deps
  let ballast: Ballast | undefined
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<unknown> = Promise.resolve()

  async function startAll(): Promise<string[]> {
    const place = placeOf(config, data)
    const sealing = startSealing({ config, cells, data, address, place, signal }).catch(
      (error: unknown) => [`receipts: ${messageOf(error)}`],
    )
    const models = fleet
      .start(chosenModels(config.models))
      .catch((error: unknown) => [`models: ${messageOf(error)}`])
    const storage = startStorageUpkeep({
      config,
      cells,
      data,
      address,
      blobs,
      meter,
      place,
      signal,
    }).then(
      () => [],
      (error: unknown) => [`storage: ${messageOf(error)}`],
    )
    return (await Promise.all([sealing, models, storage])).flat()
  }

  return {
    start(complete) {
      ballast = startBallast({
        path: data.at(BALLAST_FILE),
        bytesMax: config.ballastMib * MIB,
        log,
        tell: (isFull) => tellDisk(cells, isFull, log),
      })
      running = startAll().then((failures) => {
        if (!signal.aborted) complete(failures)
      })
    },
    async stop(budget) {
      stopping.abort()
      await ballast?.stop()
      await fleet.close()
      await running
      for (const { stage, names } of STOP_ORDER) {
        const graceMs = budget.graceMs(stage)
        const isOf = (cell: Cell) => names.some((name) => cell.spec.name.startsWith(name))
        const ending = cells.list().filter(isOf)
        await Promise.all(ending.map((cell) => cell.stop(graceMs)))
      }
    },
  }
}

/** The models of this node, wired. */
export function createFleet(deps: {
  config: Config
  data: DataFolder
  cells: Cells
  state: State
  routedTo: string
  log: Logger
  report: Reporter
}): ModelFleet {
  const { config, data, cells, state, routedTo, log, report } = deps
  return new ModelFleet({
    cells,
    state,
    log,
    routedTo,
    place: placeOf(config, data),
    ...(config.gpu === 'off' ? {} : { gpu: config.gpu }),
    environment: toolEnvironment(),
    progress: report.progress,
    folders: {
      artifactsFolder: data.at('artifacts'),
      modelsFolder: data.at('models'),
      logLevel: config.logLevel,
      ...(config.artifacts === undefined ? {} : { offlineFolder: config.artifacts }),
    },
  })
}
