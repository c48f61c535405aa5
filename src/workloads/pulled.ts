// The image of a version, pulled once: its digest and its process are of the version from then on.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadDriver, WorkloadProgress, WorkloadPulled } from './driver.ts'
import type { WorkloadVersion } from './read-version.ts'

type Deps = { readonly state: Queryable; readonly log: Logger; readonly driver: WorkloadDriver }

/** Throws the image_… codes, and registry_unreachable, after which a later try may succeed. */
export async function pulledOf(
  { state, log, driver }: Deps,
  version: WorkloadVersion,
  signal: AbortSignal,
): Promise<WorkloadPulled> {
  const { id } = version
  const known = knownOf(driver, version)
  if (known !== undefined) return known
  const row = [id, version.version]
  const tell = (pull: WorkloadProgress) =>
    void state
      .query('update workload_versions set pull = $3 where workload = $1 and version = $2', [
        ...row,
        { done_bytes: pull.doneBytes, total_bytes: pull.totalBytes },
      ])
      .catch((error: unknown) => log.debug('A pull is not told', { error: messageOf(error) }))
  return await driver.keepImages(async () => {
    const pulled = await driver.pull({ ...version, image: imageOf(version) }, tell, signal)
    await state.query(
      'update workload_versions set digest = $3, config = $4, pull = null where workload = $1 and version = $2',
      [...row, pulled.digest, pulled.config],
    )
    return pulled
  })
}

/** Undefined where the image must be pulled. */
export function knownOf(
  driver: Pick<WorkloadDriver, 'has'>,
  { image, digest, config }: WorkloadVersion,
): WorkloadPulled | undefined {
  if (digest === null || config === null) return undefined
  return driver.has({ image, digest }) ? { digest, config } : undefined
}

/** A tag may have moved since. */
const imageOf = ({ image, digest }: WorkloadVersion): string =>
  digest === null || /^(oci|docker-archive):|@/.test(image) ? image : `${image}@${digest}`
