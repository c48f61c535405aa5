// The pull of an image on this node: a cell that ends when the image is there.
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { IMAGE_PULL_S_MAX } from '#contract/workloads/workload-limits.ts'
import { parseImageReference } from '#images/reference.ts'
import { ask, programCell, type ProgramPlace } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { roomLock, roomLockFolder } from '#node/room-lock.ts'
import { pullCellOf } from './cell-name.ts'
import type { WorkloadProgress, WorkloadPull } from './driver.ts'
import { imageFolderOf, pullFolderOf } from './image-place.ts'
import type { ImageSettings } from './image-rule.ts'
import type { PullConfig } from './programs/pull-image.ts'
import type { PullPage, PulledPage } from './pull-page.ts'
import type { PasswordFor } from './registries/passwords.ts'

export const PULL_IMAGE: Program = {
  file: 'workloads/programs/pull-image.ts',
  flags: [ONE_COLLECTOR],
}

const SOCKETS = 'pulls'
/** All pulls write to one folder. */
const USER = 'images'
const LOOK_MS = 250
const MEMORY_BYTES = 512_000_000

export type NodePulls = {
  readonly cells: Pick<Cells, 'start'>
  readonly place: ProgramPlace
  readonly admit: (cell: string, account: string) => Promise<void>
  readonly folder: string
  readonly settings: ImageSettings
  readonly passwordFor: PasswordFor
  /** Ports of the service, which may be asked at this machine's public addresses. */
  readonly servedPorts: readonly number[]
  /** Of a whole pull; tests are short. */
  readonly limitMs?: number
  /** Of the files of a pull that broke off; tests are short. */
  readonly leftMs?: number
  /** Another pull in tests. */
  readonly pull?: typeof pullImage
}

export async function pullImage(
  deps: NodePulls,
  wanted: WorkloadPull,
  progress: (now: WorkloadProgress) => void,
  signal: AbortSignal,
): Promise<PulledPage> {
  const { cells, place, admit, folder, settings, passwordFor, servedPorts } = deps
  const { limitMs = IMAGE_PULL_S_MAX * 1000 } = deps
  const late = AbortSignal.timeout(limitMs)
  const name = pullCellOf(wanted)
  const config: Omit<PullConfig, 'socket' | 'logLevel'> = {
    ...settings,
    image: wanted.image,
    folder: imageFolderOf(folder, wanted.image),
    work: pullFolderOf(folder, wanted, name),
    roomLock: roomLock(place.dataFolder),
    quotaBytes: wanted.roomBytes,
    servedPorts,
    credentials: await passwordFor(wanted.image, wanted.account),
  }
  const isFile = parseImageReference(wanted.image).kind !== 'registry'
  await admit(name, wanted.account)
  const cell = await cells.start(
    programCell(PULL_IMAGE, {
      name,
      user: USER,
      place,
      config,
      socketGroup: SOCKETS,
      reads: [
        roomLockFolder(place.dataFolder),
        ...(isFile && settings.imageFolder !== null ? [settings.imageFolder] : []),
      ],
      writes: [folder],
      limits: { memoryBytes: MEMORY_BYTES },
      payer: { kind: 'account', account: wanted.account },
    }),
  )
  try {
    return await followPull(cell, progress, AbortSignal.any([signal, late]))
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error
    throw fault(
      'image_too_slow',
      `Could not pull "${wanted.image}": it was not there after ${limitMs / 1000} s`,
    )
  } finally {
    await cell.stop()
  }
}

async function followPull(
  cell: Cell,
  progress: (now: WorkloadProgress) => void,
  signal: AbortSignal,
): Promise<PulledPage> {
  await cell.ready(signal)
  for (;;) {
    // A pull that ended starts again, and goes on where it was.
    const page = (await ask(cell.socket, '/pull', signal).catch((error: unknown) => {
      if (signal.aborted || cell.state === 'stopped') throw error
      return undefined
    })) as PullPage | undefined
    if (page?.failure !== undefined) throw failureOf(page.failure)
    if (page?.pulled !== undefined) return page.pulled
    if (page !== undefined) progress(page)
    await sleep(LOOK_MS, signal)
  }
}

const failureOf = ({ message, ...fault }: NonNullable<PullPage['failure']>): ErgonError =>
  new ErgonError(fault, message)
