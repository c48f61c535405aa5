// The volumes of this node: a folder for each workload, with the file of each of its volumes.
import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep, systemClock } from '#base/clock.ts'
import { promiseRoomOf } from '#base/tenant-room.ts'
import type { CellVolume } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { VOLUMES_WAIT } from '#contract/resources/passing-reasons.ts'
import type {
  ReadyVolumes,
  VolumesOf,
  VolumesWait,
  WorkloadVolume,
  WorkloadVolumes,
} from '#workloads/driver.ts'
import { createNamedTurns, createVolumeTurns } from './volume-turns.ts'
import { createKeptRoom, type KeptRoom } from './kept-room.ts'
import { createRoomChecks, type RoomChecks } from './room-checks.ts'
import {
  findImage,
  growVolumeImage,
  makeVolumeImage,
  VolumeNotGrown,
  wholeBlocks,
  type VolumeImage,
} from './volume-images.ts'

export type VolumeMakers = {
  readonly make: typeof makeVolumeImage
  readonly grow: typeof growVolumeImage
}

export interface NodeVolumes extends WorkloadVolumes {
  prepare(spec: VolumesOf, wait: VolumesWait): Promise<ReadyVolumes<readonly CellVolume[]>>
  open(spec: VolumesOf, wait: VolumesWait): Promise<readonly CellVolume[]>
  /**
   * Keeps the room that volumes are promised from all others, until the signal aborts. Rejects where the disk keeps none, and
   * may be called again.
   */
  keepRoom(signal: AbortSignal): Promise<void>
}

const IMAGE = '.img'
const DISK_BLOCK_BYTES = 512
/** Between two checks at the disk: its last tenth has what volumes write meanwhile. */
const LOOK_MS = 250
const BYTES_PER_MB = 1_000_000

/** Waits for others are mostly shorter, and nobody needs to know of them. */
const TOLD_MS = 1000

/** Checks of file systems at once: each reads much of the disk. */
const GROWTHS_MAX = 4

/** The lock is that of room-lock.ts. The makers of files, and the keeper of the room, are others in tests. */
export function createNodeVolumes(
  folder: string,
  lock: string,
  makers: VolumeMakers = { make: makeVolumeImage, grow: growVolumeImage },
  kept: KeptRoom = createKeptRoom(folder, lock),
): NodeVolumes {
  const imageOf = (workload: string, { id }: Pick<WorkloadVolume, 'id'>) =>
    join(folder, workload, id + IMAGE)
  const promises: Promises = new Set()
  const checks = createRoomChecks(() => systemClock.monotonicMs())
  const prepare = createPreparing({ folder, kept, promises, makers, checks, imageOf })
  return {
    prepare,
    async open(spec, wait) {
      using ready = await prepare(spec, wait)
      return await ready.open(wait.signal)
    },
    lacking: ({ id, volumes }) => lackingOf(volumes, (volume) => imageOf(id, volume)),
    async keepRoom(signal) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        checks.changed()
        while (!signal.aborted) {
          if (checks.isDue(await statfs(folder))) {
            const isKept = await kept.keep(promisedBytes(await filesOf(folder), promises))
            if (isKept) checks.checked(await statfs(folder))
          }
          await sleep(LOOK_MS, signal).catch(() => undefined)
        }
      } finally {
        await kept.close()
      }
    },
    async keep(workload, volumes) {
      const own = join(folder, workload)
      for (const name of await entriesOf(own))
        if (!volumes.has(idOfFile(name))) await rm(join(own, name), { force: true })
      if (volumes.size === 0) await rm(own, { recursive: true, force: true })
      checks.changed()
    },
    async keepWorkloads(ids) {
      for (const name of await entriesOf(folder))
        if (!ids.has(name)) await rm(join(folder, name), { recursive: true, force: true })
    },
    async used() {
      const files = await filesOf(folder)
      return new Map(files.map(({ id, takenBytes }) => [id, takenBytes]))
    },
  }
}

/** The sizes of volumes that are about to be made or grown. */
type Promises = Set<{ readonly id: string; readonly bytes: number }>

type Rooms = {
  readonly folder: string
  readonly promises: Promises
  readonly kept: Pick<KeptRoom, 'bytes' | 'promise'>
}

type Preparing = Rooms & {
  readonly makers: VolumeMakers
  readonly checks: Pick<RoomChecks, 'changed'>
  readonly imageOf: (workload: string, volume: WorkloadVolume) => string
}

/** Makes or grows the files of volumes, one after the other for each volume: a slow check holds up no other. */
function createPreparing(parts: Preparing): NodeVolumes['prepare'] {
  const { folder, makers, checks, promises, imageOf } = parts
  // Each takes the room that it was promised before the next one asks.
  const promiseTurn = createVolumeTurns(1)
  const growthTurn = createVolumeTurns(GROWTHS_MAX)
  const fileTurn = createNamedTurns()
  const promise = async (volume: WorkloadVolume, moreBytes: number, { signal }: VolumesWait) => {
    const own = { id: volume.id, bytes: wholeBlocks(volume.bytes) }
    using taking = new DisposableStack()
    const make = async () => {
      await assertRoom(parts, volume, moreBytes)
      promises.add(own)
      taking.defer(() => {
        promises.delete(own)
        checks.changed()
      })
      return promisedBytes(await filesOf(folder), promises)
    }
    using _ = await promiseTurn(signal)
    await parts.kept.promise(make, signal)
    checks.changed()
    return taking.move()
  }
  const grows = (lacks: readonly (Lack | undefined)[]) =>
    lacks.some((one) => one?.isAbsent === false)
  return async ({ id, volumes }, wait) => {
    const { signal } = wait
    if (volumes.length > 0) await mkdir(join(folder, id), { recursive: true, mode: 0o700 })
    const lacksNow = () => Promise.all(volumes.map((one) => lackOf(imageOf(id, one), one)))
    using taking = new DisposableStack()
    const lacks = await lacksNow()
    const lacking = volumes.filter((_, nth) => lacks[nth] !== undefined)
    if (lacking.length > 0) signal.throwIfAborted()
    for (const [nth, volume] of volumes.entries()) {
      const moreBytes = lacks[nth]?.moreBytes ?? 0
      if (moreBytes > 0)
        taking.use(await tellWait(wait, VOLUMES_WAIT.room, () => promise(volume, moreBytes, wait)))
    }
    for (const volume of lacking) taking.use(await fileTurn(volume.id, signal))
    // One turn for all of them: two workloads that had one each and waited for another would wait for each other. Another
    // opening may have grown them meanwhile.
    if (grows(lacks) && grows(await lacksNow()))
      taking.use(await tellWait(wait, VOLUMES_WAIT.checks, () => growthTurn(signal)))
    const taken = taking.move()
    return {
      async open(until) {
        for (const volume of lacking) {
          const lack = await lackOf(imageOf(id, volume), volume)
          if (lack === undefined) continue
          until.throwIfAborted()
          const work = lack.isAbsent ? makers.make : makers.grow
          await work(imageOf(id, volume), volume.bytes).catch((error: unknown) => {
            throw error instanceof VolumeNotGrown ? notGrown(volume, error) : error
          })
        }
        return volumes.map((volume) => ({ path: volume.path, image: imageOf(id, volume) }))
      },
      [Symbol.dispose]: () => taken.dispose(),
    }
  }
}

const notGrown = ({ name }: WorkloadVolume, cause: Error) =>
  fault('workload_failed', `Could not grow the volume "${name}": ${cause.message}`, { cause })

type Lack = { readonly isAbsent: boolean; readonly moreBytes: number }

/** Undefined where the file is there, whole and as large as it is to be. */
async function lackOf(path: string, volume: WorkloadVolume): Promise<Lack | undefined> {
  const image = await findImage(path)
  const moreBytes = lackingBytes(image, volume)
  if (image?.isWhole === true && moreBytes === 0) return undefined
  return { isAbsent: image === undefined, moreBytes }
}

async function tellWait<T>(
  { waits }: VolumesWait,
  what: string,
  wait: () => Promise<T>,
): Promise<T> {
  let isTold = false
  const timer = setTimeout(() => {
    isTold = true
    waits(what)
  }, TOLD_MS)
  const result = await wait().finally(() => clearTimeout(timer))
  // A wait that is cut off stays the reason: the next try waits again.
  if (isTold) waits(null)
  return result
}

const lackingBytes = (image: VolumeImage | undefined, { bytes }: WorkloadVolume): number =>
  Math.max(0, wholeBlocks(bytes) - (image?.sizeBytes ?? 0))

async function lackingOf(
  volumes: readonly WorkloadVolume[],
  pathOf: (volume: WorkloadVolume) => string,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  for (const volume of volumes) {
    const image = await findImage(pathOf(volume))
    if (lackingBytes(image, volume) > 0) sizes.set(volume.id, image?.sizeBytes ?? 0)
  }
  return sizes
}

/** The disk keeps room for the growth of each, so that a full one is no fault of another. */
async function assertRoom(
  { folder, promises, kept }: Rooms,
  { name, bytes }: WorkloadVolume,
  moreBytes: number,
): Promise<void> {
  if (moreBytes === 0) return
  const promised = promisedBytes(await filesOf(folder), promises)
  const room = promiseRoomOf(await statfs(folder)) + kept.bytes - promised
  if (moreBytes <= room) return
  throw fault(
    'workload_failed',
    `Could not make the volume "${name}" of ${mb(bytes)}: the node has ${mb(Math.max(0, room))} for volumes`,
  )
}

/** The bytes that volumes may still take of the disk. */
function promisedBytes(files: Awaited<ReturnType<typeof filesOf>>, promises: Promises): number {
  const sizes = new Map<string, number>()
  const all = [...files.map(({ id, sizeBytes: bytes }) => ({ id, bytes })), ...promises]
  for (const { id, bytes } of all) sizes.set(id, Math.max(bytes, sizes.get(id) ?? 0))
  const size = [...sizes.values()].reduce((sum, one) => sum + one, 0)
  const taken = files.reduce((sum, { takenBytes }) => sum + takenBytes, 0)
  return Math.max(0, size - taken)
}

async function filesOf(folder: string) {
  const names = await Promise.all(
    (await entriesOf(folder)).map(async (workload) =>
      (await entriesOf(join(folder, workload))).map((name) => join(folder, workload, name)),
    ),
  )
  const files = await Promise.all(
    names.flat().map(async (path) => {
      const found = await stat(path).catch(orGone)
      return found && { id: idOfFile(path), ...roomOf(found) }
    }),
  )
  return files.filter((file) => file !== undefined)
}

const roomOf = ({ size, blocks }: { readonly size: number; readonly blocks: number }) => ({
  sizeBytes: size,
  takenBytes: blocks * DISK_BLOCK_BYTES,
})

const idOfFile = (path: string): string => /([^/.]*)\.img[^/]*$/.exec(path)?.[1] ?? ''
const mb = (bytes: number): string => `${Math.floor(bytes / BYTES_PER_MB)} MB`

const entriesOf = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    // The file that keeps room has a name for a moment.
    (names) => names.filter((name) => !name.startsWith('.')),
    (error: unknown) => orGone(error) ?? [],
  )

function orGone(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== 'ENOENT') throw error
}
