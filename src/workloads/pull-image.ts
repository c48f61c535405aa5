// The pull of an image on this node: a cell that ends when the image is there.
import { sleep } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import type { Cells } from '#cells/cell.ts'
import type { ImageConfig } from '#images/manifest.ts'
import { parseImageReference } from '#images/reference.ts'
import { ask, programCell, type ProgramPlace } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { pullCellOf } from './cell-name.ts'
import type { WorkloadProgress, WorkloadPull } from './driver.ts'
import { imageFolderOf } from './image-place.ts'
import type { ImageSettings } from './image-rule.ts'
import type { PullConfig } from './programs/pull-image.ts'
import type { PullPage } from './pull-page.ts'
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
}

export async function pullImage(
  { cells, place, admit, folder, settings, passwordFor }: NodePulls,
  wanted: WorkloadPull,
  progress: (now: WorkloadProgress) => void,
  signal: AbortSignal,
): Promise<{ readonly digest: string; readonly config: ImageConfig }> {
  const name = pullCellOf(wanted)
  const config: Omit<PullConfig, 'socket' | 'logLevel'> = {
    ...settings,
    image: wanted.image,
    folder: imageFolderOf(folder, wanted.image),
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
      reads: isFile && settings.imageFolder !== null ? [settings.imageFolder] : [],
      writes: [folder],
      limits: { memoryBytes: MEMORY_BYTES },
      payer: { kind: 'account', account: wanted.account },
    }),
  )
  try {
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
  } finally {
    await cell.stop()
  }
}

const failureOf = ({ message, ...fault }: NonNullable<PullPage['failure']>): ErgonError =>
  new ErgonError(fault, message)
