// The image of a version, pulled once: its digest and its process are of the version from then on.
import { ErgonError, messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import { imageBeyondQuota } from '#images/quota-fault.ts'
import type { Instances } from '#resources/instances.ts'
import type {
  KeptImage,
  RunningWorkload,
  WorkloadDriver,
  WorkloadProgress,
  WorkloadPulled,
} from './driver.ts'
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
}

/**
 * Where the quota has no room for the image, instances of versions that others have replaced end for it. Throws the image_…
 * codes, and registry_unreachable, after which a later try may succeed.
 */
export async function pulledOf(
  deps: PulledDeps,
  version: WorkloadVersion,
  signal: AbortSignal,
): Promise<WorkloadPulled> {
  const known = knownOf(deps.driver, version)
  if (known !== undefined) return known
  try {
    return await pullNow(deps, version, signal)
  } catch (error) {
    const isBeyond = error instanceof ErgonError && error.code === 'image_quota_exceeded'
    if (!isBeyond || !(await endOlderVersions(deps, version))) throw error
    return await pullNow(deps, version, signal)
  }
}

async function pullNow(
  { state, log, driver, imageBytesMax, instances }: PulledDeps,
  version: WorkloadVersion,
  signal: AbortSignal,
): Promise<WorkloadPulled> {
  const row = [version.id, version.version]
  const progress = (pull: WorkloadProgress) =>
    void state
      .query('update workload_versions set pull = $3 where workload = $1 and version = $2', [
        ...row,
        { done_bytes: pull.doneBytes, total_bytes: pull.totalBytes },
      ])
      .catch((error: unknown) => log.debug('A pull is not told', { error: messageOf(error) }))
  const { rows: rooms } = await state.query<{ bytes: string }>(
    'select image_room($1, $2, $3, $4)::text as bytes',
    [...row, imageBytesMax, versionsInUse(instances, version.account)],
  )
  const wanted = {
    ...version,
    image: imageOf(version),
    roomBytes: Number(rooms[0]?.bytes ?? imageBytesMax),
  }
  const keep = async ({ digest, config, word, bytes }: KeptImage) => {
    if (
      version.digest !== null &&
      /^(oci|docker-archive):/.test(version.image) &&
      version.digest !== digest
    )
      throw changedImage(version, digest)
    const { rows } = await state.query<{ others: string | null }>(
      'select keep_image($1, $2, $3, $4, $5, $6, $7, $8)::text as others',
      [
        ...row,
        digest,
        config,
        word,
        bytes,
        imageBytesMax,
        versionsInUse(instances, version.account),
      ],
    )
    const others = rows[0]?.others ?? null
    if (others !== null)
      throw imageBeyondQuota(version.image, Math.max(0, imageBytesMax - Number(others)))
  }
  return await driver.pull(wanted, { progress, keep }, signal)
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
