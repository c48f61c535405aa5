// The image of a version, pulled once: its digest and its process are of the version from then on.
import { messageOf, present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import { imageBeyondQuota } from '#images/quota-fault.ts'
import type { Instances } from '#resources/instances.ts'
import type { Trials } from '#resources/trials.ts'
import type {
  HeldImage,
  RunningWorkload,
  WorkloadDriver,
  WorkloadProgress,
  WorkloadPulled,
} from './driver.ts'
import { keepWantedImages } from './image-rows.ts'
import { endOlderVersions, versionsInUse } from './older-versions.ts'
import type { WorkloadVersion } from './read-version.ts'
import type { VersionedInstance } from './versioned.ts'

export type PulledDeps = {
  readonly state: Queryable
  readonly log: Logger
  readonly driver: WorkloadDriver
  /** All images of an account may have so many bytes on the node. */
  readonly imageBytesMax: number
  readonly instances: Pick<Instances<VersionedInstance, RunningWorkload>, 'running' | 'stop'>
  /** Turns of their own: a slow registry holds up no trial. */
  readonly pulls: Trials
}

/**
 * Pulls of an account take turns. Where the quota has room for the image only without those of versions that others have
 * replaced, their instances end for it. Throws the image_… codes, and registry_unreachable, after which a later try may
 * succeed; NotYet while the account rests.
 */
export async function pulledOf(
  deps: PulledDeps,
  version: WorkloadVersion,
  signal: AbortSignal,
): Promise<WorkloadPulled> {
  const known = knownOf(deps.driver, version)
  if (known !== undefined) return known
  const found: { pulled?: WorkloadPulled; image?: HeldImage; tight?: HeldImage } = {}
  try {
    using held = new DisposableStack()
    const pull = async () => {
      // Another pull of the account may have brought it meanwhile.
      const brought = knownOf(deps.driver, version)
      if (brought !== undefined) {
        found.pulled = brought
        return true
      }
      const image = held.use(await pullNow(deps, version, signal))
      found.pulled = found.image = image
      if ((await bytesOfOthers(deps, version, image)) === null) return true
      await assertRoom(deps, version, image)
      found.tight = image
      return true
    }
    await deps.pulls.run(version.account, pull, signal)
    if (found.tight !== undefined) await keepByEnds(deps, version, { image: found.tight, signal })
    const { digest, config } = present(found.pulled, 'a pull that did not throw has an image')
    return { digest, config }
  } catch (error) {
    // Its files are of nobody where it was refused.
    if (found.image !== undefined) await keepWantedImages(deps)
    throw error
  }
}

/** It has the room that there will be, and nothing ends for an image beyond that. */
async function pullNow(
  deps: PulledDeps,
  version: WorkloadVersion,
  signal: AbortSignal,
): Promise<HeldImage> {
  const { state, log, driver } = deps
  let written: Promise<unknown> = Promise.resolve()
  const tell = (pull: object | null) => {
    const set = 'update workload_versions set pull = $3 where workload = $1 and version = $2'
    // One after another: the end of a pull is the last word.
    written = written
      .then(() => state.query(set, [version.id, version.version, pull]))
      .catch((error: unknown) => log.debug('A pull is not told', { error: messageOf(error) }))
  }
  const progress = ({ doneBytes, totalBytes }: WorkloadProgress) => {
    // Nothing comes while the registry is only asked.
    if (doneBytes + totalBytes > 0) tell({ done_bytes: doneBytes, total_bytes: totalBytes })
  }
  const roomBytes = await roomOf(deps, version)
  try {
    return await driver.pull({ ...version, image: imageOf(version), roomBytes }, progress, signal)
  } catch (error) {
    tell(null)
    throw error
  } finally {
    await written
  }
}

/** The bytes that the images of an account leave when no instance of a replaced version runs. */
async function roomOf({ state, imageBytesMax }: PulledDeps, version: WorkloadVersion) {
  const { rows } = await state.query<{ bytes: string }>(
    "select image_room($1, $2, $3, '{}')::text as bytes",
    [version.id, version.version, imageBytesMax],
  )
  return Number(rows[0]?.bytes ?? imageBytesMax)
}

/** Null where the version has the image now, or else the bytes of the others, which leave too little. */
async function bytesOfOthers(
  { state, imageBytesMax, instances }: PulledDeps,
  version: WorkloadVersion,
  { digest, config, word, bytes }: HeldImage,
): Promise<number | null> {
  if (
    version.digest !== null &&
    /^(oci|docker-archive):/.test(version.image) &&
    version.digest !== digest
  )
    throw changedImage(version, digest)
  const { rows } = await state.query<{ others: string | null }>(
    'select keep_image($1, $2, $3, $4, $5, $6, $7, $8)::text as others',
    [
      version.id,
      version.version,
      digest,
      config,
      word,
      bytes,
      imageBytesMax,
      versionsInUse(instances, version.account),
    ],
  )
  const others = rows[0]?.others ?? null
  return others === null ? null : Number(others)
}

async function assertRoom(deps: PulledDeps, version: WorkloadVersion, image: HeldImage) {
  const roomBytes = await roomOf(deps, version)
  const { bytes, copies } = image
  if (bytes > roomBytes) throw imageBeyondQuota(version.image, { roomBytes, bytes, copies })
}

/** Outside of the turn: an instance may end slowly. */
async function keepByEnds(
  deps: PulledDeps,
  version: WorkloadVersion,
  { image, signal }: { readonly image: HeldImage; readonly signal: AbortSignal },
) {
  await endOlderVersions(deps, version, signal)
  const others = await bytesOfOthers(deps, version, image)
  if (others === null) return
  const roomBytes = Math.max(0, deps.imageBytesMax - others)
  const { bytes, copies } = image
  throw imageBeyondQuota(version.image, { roomBytes, bytes, copies })
}

/** Undefined where the image must be pulled. */
export function knownOf(
  driver: Pick<WorkloadDriver, 'has'>,
  { image, digest, config, imageWord }: WorkloadVersion,
): WorkloadPulled | undefined {
  // An image that the version has given up may be removed, though it is there.
  if (digest === null || config === null || imageWord === null) return undefined
  return driver.has({ image, digest }) ? { digest, config } : undefined
}

/** A file has no image by its digest, as a registry has: a version that has given up its image may not get it again. */
const changedImage = ({ image, version, digest }: WorkloadVersion, found: string) =>
  fault(
    'image_not_found',
    `Could not find the image ${image} of version ${version}, ${digest}: the file has ${found} now`,
  )

/** A tag may have moved since. */
const imageOf = ({ image, digest }: WorkloadVersion): string =>
  digest === null || /^(oci|docker-archive):|@/.test(image) ? image : `${image}@${digest}`
