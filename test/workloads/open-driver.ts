// A driver with cells of its own, as the agent opens it, for tests and for processes that tests kill.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createLogTail } from '#base/log-tail.ts'
import type { CellOutlet, Cells } from '#cells/cell.ts'
import { createCells, type CellsOptions } from '#cells/create-cells.ts'
import { makeRoomLock, roomLock } from '#node/room-lock.ts'
import { createDockerDriver } from '#workloads/docker/docker-driver.ts'
import { openEngine } from '#workloads/docker/open-engine.ts'
import type { WorkloadDriver, WorkloadSpec } from '#workloads/driver.ts'
import { createCellDriver } from '#workloads/local-driver.ts'
import { createNodeImages } from '#workloads/node-images.ts'
import { createNodeVolumes } from '#workloads/volumes/node-volumes.ts'

export type DriverName = 'local' | 'docker'
export type OpenedDriver = { readonly cells: Cells; readonly driver: WorkloadDriver }

export type DriverPlace = {
  readonly name: DriverName
  /** The socket of the engine, where the driver has one. */
  readonly engine: string | undefined
  readonly where: CellsOptions
  readonly imageFolder: string
  readonly outlet: CellOutlet
  /** The longest start of an instance; by default as long as a busy machine needs. */
  readonly readyMs?: number
}

/** Podman beside other tests needed more than 5 s. */
const READY_MS = 60_000
const PULL_MS = 60_000
const INSTALLATION = 'test'

/** The volume of the instance of an agent that tests kill. */
export const LEFT_VOLUME = { id: 'vol_left', name: 'data', path: '/data', bytes: 16_000_000 }

/** Nobody else has volumes here. */
export const NO_WAIT = { signal: new AbortController().signal, waits: () => undefined }

/** A driver on cells of its own, or on those of another driver. */
export async function openDriver(given: DriverPlace, others?: Cells): Promise<OpenedDriver> {
  const { where, imageFolder, outlet, engine: socket = '', readyMs = READY_MS } = given
  const cells = others ?? (await createCells(where))
  for (const name of ['compiled', 'room'])
    mkdirSync(join(where.dataFolder, name), { recursive: true })
  makeRoomLock(where.dataFolder)
  const admit = async () => undefined
  const images = createNodeImages({
    cells,
    admit,
    place: { ...where, logLevel: 'error', logTail: createLogTail() },
    folder: join(where.dataFolder, 'images'),
    settings: { privateRegistries: [], imageFolder },
    passwordFor: async () => undefined,
    servedPorts: [],
  })
  const volumes = createNodeVolumes(join(where.dataFolder, 'volumes'), roomLock(where.dataFolder))
  const egress = { outletOf: async () => outlet }
  const deps = { cells, admit, images, volumes, egress, readyMs }
  if (given.name === 'local') return { cells, driver: createCellDriver(deps) }
  const { isolation } = cells
  const opened = await openEngine(socket, {
    isolation,
    installation: INSTALLATION,
    profilePath: join(where.dataFolder, 'seccomp.json'),
  })
  return { cells, driver: createDockerDriver({ ...deps, opened, installation: INSTALLATION }) }
}

/** The first instance of an image. */
export async function specOf(driver: WorkloadDriver, image: string): Promise<WorkloadSpec> {
  const wanted = { id: 'wl_pull', account: 'acct_a', version: 1, image, roomBytes: 1e12 }
  using pulled = await driver.pull(wanted, () => undefined, AbortSignal.timeout(PULL_MS))
  const { digest, config } = pulled
  return {
    ...wanted,
    digest,
    config,
    name: 'web',
    instance: 1,
    port: 8080,
    command: null,
    env: {},
    cpuMilli: 1000,
    memoryBytes: 128_000_000,
    health: null,
    volumes: [],
  }
}
