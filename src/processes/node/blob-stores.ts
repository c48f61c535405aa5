// Where blobs may be: what the settings name, and what rows name from before. A store that is named for the
// first time must answer; one that is in use may be away, as the rest of the cloud goes on without it.
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { FS_LOCATION, type BlobSettings, type S3Settings } from '#blobs/stores.ts'
import type { Config } from '#config/config.ts'
import type { Queryable } from '#state/connect.ts'
import { BLOB_FOLDER, type DataFolder } from './data-folder.ts'

const LOCATIONS_MAX = 100

/**
 * What the cells need to know of blobs. Throws `blob_store_refused`, `blob_store_away`, or
 * `blob_location_unknown` when objects are in an upstream whose key is not set.
 */
export async function settleBlobStores(deps: {
  config: Config
  data: Pick<DataFolder, 'at'>
  state: Queryable
  log: Logger
  signal: AbortSignal
}): Promise<BlobSettings> {
  const { config, data, state } = deps
  const s3 = s3Of(config)
  const used = await locationsOf(state, 'blobs')
  const unknown = used.find((location) => location !== FS_LOCATION && s3 === undefined)
  if (unknown !== undefined)
    throw new ErgonError(
      { code: 'blob_location_unknown', status: 500 },
      `Could not start: objects are in ${unknown}, and ERGON_STORAGE_S3_KEY is not set`,
    )
  // What waits there to be removed can wait for the key.
  const old = s3 === undefined ? [] : await locationsOf(state, 'blob_garbage')
  const target = config.storageBlobs
  const locations = [...new Set([FS_LOCATION, target, ...used, ...old])]
  if (s3 !== undefined)
    for (const location of locations)
      if (location !== FS_LOCATION) await claim(deps, s3, location, used.includes(location))
  return { folder: data.at(BLOB_FOLDER), target, locations, ...(s3 && { s3 }) }
}

function s3Of(config: Config): S3Settings | undefined {
  if (config.storageS3Key === undefined) return undefined
  const [accessKeyId = '', secretAccessKey = ''] = config.storageS3Key.reveal().split(/:(.*)/s)
  return {
    ...(config.storageS3Endpoint && { endpoint: config.storageS3Endpoint }),
    region: config.storageS3Region,
    accessKeyId,
    secretAccessKey,
  }
}

async function claim(
  { state, log, signal }: { state: Queryable; log: Logger; signal: AbortSignal },
  settings: S3Settings,
  location: string,
  isUsed: boolean,
): Promise<void> {
  const { rows } = await state.query<{ id: string }>('select id from state_identity')
  const owner = rows[0]?.id ?? ''
  const { claimS3Store } = await import('#blobs/s3-open.ts')
  await claimS3Store(location, settings, { owner, isUsed, signal }).catch((error: unknown) => {
    if (!isUsed || !(error instanceof ErgonError) || error.code !== 'blob_store_away') throw error
    log.error('Objects wait for a blob store that is away', { location, error: messageOf(error) })
  })
}

/** The locations that rows name: a look into the index for each, however many rows there are. */
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
