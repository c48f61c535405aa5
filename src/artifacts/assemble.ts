// Makes a folder on disk from an entry of the catalogue: find the wheel, check it, unpack what is wanted,
// make it durable, and let it appear by one rename.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'

import { installPip } from './apt.ts'
import { artifactFault } from './faults.ts'
import { freeBytes, openFolders, sha256OfFile, sizeOfFile, syncPath, syncTree } from './files.ts'
import { downloadWheel } from './pip.ts'
import {
  type ArtifactPlace,
  markerOf,
  removeLeftovers,
  unpackedBytes,
  workPrefixOf,
} from './place.ts'
import { openArchive, unpack } from './zip.ts'

export type ArtifactProgress = {
  readonly name: string
  readonly phase: 'download' | 'unpack'
  readonly doneBytes: number
  readonly totalBytes: number
}

/** The sources of wheels. */
export type WheelSources = {
  /** Wheels for a machine without a network: nothing is downloaded when it is set. */
  readonly offlineFolder?: string
  /** The Python whose pip downloads; python3 on PATH when absent. */
  readonly python?: string
  /** The environment of pip (index, proxy, HOME); our own when absent. */
  readonly environment?: Readonly<Record<string, string>>
  readonly log: Logger
  readonly progress?: (progress: ArtifactProgress) => void
}

// Room beyond the known sizes for folders, the marker and pip's own small files.
const SPARE_BYTES = 4 * 1024 * 1024

/** Puts the artifact at its place, whatever was there. The artifact's lock must be held. */
export async function assemble(
  place: ArtifactPlace,
  means: WheelSources,
  signal: AbortSignal,
): Promise<void> {
  const { artifact, wheel, root, home } = place
  await removeLeftovers(place)
  await demandSpace(place, means)
  means.log.info('Fetching an artifact', { name: artifact.name, sizeBytes: wheel.sizeBytes })
  const work = await mkdtemp(workPrefixOf(place))
  try {
    const fresh = join(work, 'files')
    const path = await wheelPath(place, { means, work, signal })
    await unpackAll(place, path, { means, fresh, signal })
    const marker = markerOf(place)
    await writeFile(join(fresh, marker.file), marker.text)
    await openFolders(fresh)
    await syncTree(fresh)
    await rm(home, { recursive: true, force: true })
    await rename(fresh, home)
    await syncPath(root)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function demandSpace(
  { artifact, wheel, root }: ArtifactPlace,
  means: WheelSources,
): Promise<void> {
  // pip keeps its temporary copy while it writes the second one.
  const downloaded = means.offlineFolder === undefined ? 2 * wheel.sizeBytes : 0
  const needed = downloaded + unpackedBytes(wheel) + SPARE_BYTES
  const free = await freeBytes(root)
  if (free >= needed) return
  const text = `${megabytes(needed)} are needed, ${megabytes(free)} are free in ${root}`
  throw artifactFault('storage_full', `Could not fetch ${artifact.name}: ${text}`)
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`

type AssemblyJob = {
  readonly means: WheelSources
  readonly work: string
  readonly signal: AbortSignal
}

/** A wheel with the known bytes: downloaded into the work folder, or of the operator's folder. */
async function wheelPath(place: ArtifactPlace, job: AssemblyJob): Promise<string> {
  const { artifact, wheel } = place
  const { offlineFolder } = job.means
  const path =
    offlineFolder === undefined ? await download(place, job) : join(offlineFolder, wheel.file)
  const size = await sizeOfFile(path)
  if (size === undefined)
    throw artifactFault(
      'artifact_unreachable',
      `Could not fetch ${artifact.name}, no such file: ${path}`,
    )
  if (size !== wheel.sizeBytes || (await sha256OfFile(path, job.signal)) !== wheel.sha256)
    throw artifactFault('artifact_mismatch', `Not the known bytes of ${artifact.name}: ${path}`)
  return path
}

async function download(
  place: ArtifactPlace,
  { means, work, signal }: AssemblyJob,
): Promise<string> {
  const { artifact, wheel } = place
  const attempt = () =>
    downloadWheel({
      artifact,
      wheel,
      folder: work,
      python: means.python ?? 'python3',
      ...(means.environment !== undefined && { environment: means.environment }),
      signal,
      progress: (doneBytes) =>
        means.progress?.({
          name: artifact.name,
          phase: 'download',
          doneBytes,
          totalBytes: wheel.sizeBytes,
        }),
    })
  try {
    return await attempt()
  } catch (error) {
    const missing = error instanceof ErgonError && error.code === 'artifact_tool_missing'
    // A Python that the operator names is the operator's to equip.
    if (!missing || means.python !== undefined) throw error
    if (!(await installPip(means.log, signal))) throw error
    return attempt()
  }
}

async function unpackAll(
  { artifact, wheel }: ArtifactPlace,
  path: string,
  { means, fresh, signal }: { means: WheelSources; fresh: string; signal: AbortSignal },
): Promise<void> {
  const totalBytes = unpackedBytes(wheel)
  using archive = await openArchive(path)
  let doneBytes = 0
  for (const wanted of wheel.entries) {
    await unpack(archive, wanted, join(fresh, wanted.path), signal)
    doneBytes += wanted.sizeBytes
    means.progress?.({ name: artifact.name, phase: 'unpack', doneBytes, totalBytes })
  }
}
