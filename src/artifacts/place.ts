// Where an artifact lies and whether what lies there is it.
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { present } from '#base/errors.ts'

import { type Artifact, type Wheel, wheelFor } from './catalogue.ts'
import { sha256OfFile, sizeOfFile } from './files.ts'

/** An artifact with the wheel for this machine and the folder that is its own. */
export type ArtifactPlace = {
  readonly artifact: Artifact
  readonly wheel: Wheel
  readonly root: string
  readonly home: string
  readonly lock: string
}

/** An artifact on disk. */
export type ArtifactFiles = {
  readonly name: string
  readonly version: string
  readonly folder: string
  /** Absolute path of a file by its path in the package. */
  path(entry: string): string
  /** Paths in the package of all its files. */
  readonly entries: readonly string[]
}

const MARKER = 'artifact.json'

export const artifactPlace = (root: string, artifact: Artifact): ArtifactPlace => ({
  artifact,
  wheel: wheelFor(artifact, process.arch),
  root,
  home: join(root, `${artifact.name}-${artifact.version}`),
  lock: join(root, `.${artifact.name}.lock`),
})

export const unpackedBytes = (wheel: Wheel): number =>
  wheel.entries.reduce((total, entry) => total + entry.sizeBytes, 0)

export function filesOf({ artifact, wheel, home }: ArtifactPlace): ArtifactFiles {
  const { name, version } = artifact
  const entries = wheel.entries.map((entry) => entry.path)
  const path = (wanted: string) => {
    const entry = entries.find((each) => each === wanted)
    return join(home, present(entry, `artifact ${name} has no file ${wanted}`))
  }
  return { name, version, folder: home, path, entries }
}

/** The marker, a folder's last file. It names the wheel: another one under the same version is refused. */
export const markerOf = ({ artifact, wheel }: ArtifactPlace): { file: string; text: string } => {
  const { name, version } = artifact
  const marker = { name, version, package: artifact.package, wheel: wheel.sha256 }
  return { file: MARKER, text: `${JSON.stringify(marker)}\n` }
}

/** True when marker and files are there with their sizes; firstFault() reads their bytes. */
export async function isComplete({ wheel, home }: ArtifactPlace): Promise<boolean> {
  if (!existsSync(join(home, MARKER))) return false
  for (const entry of wheel.entries)
    if ((await sizeOfFile(join(home, entry.path))) !== entry.sizeBytes) return false
  return true
}

/** The first file that is absent or has other bytes than the known ones. */
export async function firstFault(
  { home, wheel }: ArtifactPlace,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!existsSync(join(home, MARKER))) return MARKER
  for (const entry of wheel.entries) {
    const path = join(home, entry.path)
    if ((await sizeOfFile(path)) !== entry.sizeBytes) return entry.path
    if ((await sha256OfFile(path, signal)) !== entry.sha256) return entry.path
  }
  return undefined
}

export const workPrefixOf = ({ root, artifact }: ArtifactPlace): string =>
  join(root, `.${artifact.name}~`)

/** Removes what interrupted fetches left; the names removed. The artifact's lock must be held. */
export async function removeLeftovers(place: ArtifactPlace): Promise<string[]> {
  const names = await readdir(place.root)
  const left = names.filter((name) => join(place.root, name).startsWith(workPrefixOf(place)))
  for (const name of left) await rm(join(place.root, name), { recursive: true, force: true })
  return left
}
