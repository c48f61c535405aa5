// The stores of blobs: those of the settings, and those that rows name. A store that the settings name for the first
// time must answer. A store in use may be unreachable: the rest of the cloud runs without it.
import { fault } from '#contract/errors.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { S3Settings } from '#blobs/s3-open.ts'
import { FS_LOCATION, type BlobSettings } from '#blobs/stores.ts'
import type { Config } from '#config/config.ts'
import type { Queryable } from '#state/connect.ts'
import { BLOB_FOLDER, type DataFolder } from '#node/data-folder.ts'

const LOCATIONS_MAX = 100

/**
 * The blob settings of the cells. Throws `blob_store_refused`, `blob_store_away`, or `blob_location_unknown` when
 * rows name a store without a key in the settings.
 */
export async function settleBlobStores(deps: {
  config: Config
  data: Pick<DataFolder, 'at'>
  state: Queryable
  log: Logger
  signal: AbortSignal
}): Promise<BlobSettings> {
  const { config, data, state } = deps
  const used = await locationsOf(state, 'blobs')
  const unknown = used.find((place) => place !== FS_LOCATION && s3Of(config, place) === undefined)
  if (unknown !== undefined)
    throw fault(
      'blob_location_unknown',
      `Could not start: objects are in ${unknown}, and neither ERGON_STORAGE_S3_KEY nor ERGON_STORAGE_S3_STORES has a key for it`,
    )
  const target = config.storageBlobs
  const s3: Record<string, S3Settings> = {}
  // Garbage in a store without a key can wait for the key.
  for (const location of new Set([
    target,
    ...used,
    ...(await locationsOf(state, 'blob_garbage')),
  ])) {
    const settings = s3Of(config, location)
    if (location === FS_LOCATION || settings === undefined) continue
    await claim(deps, settings, { location, isUsed: used.includes(location) })
    s3[location] = settings
  }
  return { folder: data.at(BLOB_FOLDER), target, locations: [FS_LOCATION, ...Object.keys(s3)], s3 }
}

/** The settings of a store: its own entry, otherwise the common ones. */
function s3Of(config: Config, location: string): S3Settings | undefined {
  const own = config.storageS3Stores.find(({ store }) => store === location)
  const { endpoint, region, key } = own ?? {
    endpoint: config.storageS3Endpoint,
    region: config.storageS3Region,
    key: config.storageS3Key,
  }
  if (key === undefined) return undefined
  const [accessKeyId = '', secretAccessKey = ''] = key.reveal().split(/:(.*)/s)
  return { ...(endpoint && { endpoint }), region, accessKeyId, secretAccessKey }
}

async function claim(
  { state, log, signal }: { state: Queryable; log: Logger; signal: AbortSignal },
  settings: S3Settings,
  { location, isUsed }: { location: string; isUsed: boolean },
): Promise<void> {
  const { rows } = await state.query<{ id: string }>('select id from state_identity')
  const owner = rows[0]?.id ?? ''
  const { claimS3Store } = await import('#blobs/s3-open.ts')
  await claimS3Store(location, settings, { owner, isUsed, signal }).catch((error: unknown) => {
    if (!isUsed || !(error instanceof ErgonError) || error.code !== 'blob_store_away') throw error
    log.error('Objects wait for a blob store that is away', { location, error: messageOf(error) })
  })
}

/** The locations that rows name, by one index lookup for each location. */
async function locationsOf(state: Queryable, of: 'blobs' | 'blob_garbage'): Promise<string[]> {
  const found: string[] = []
  while (found.length < LOCATIONS_MAX) {
    const { rows } = await state.query<{ location: string }>(
      `select location from ${of} where location > $1 order by location limit 1`,
      [found.at(-1) ?? ''],
    )
    if (rows[0] === undefined) break
    found.push(rows[0].location)
  }
  return found
}
