// The buckets of an account that is being deleted: every version, then the bucket. Object lock that still holds is waited
// for; governance mode yields, as it does to the owner. A version behind a page that cannot be read keeps no other bucket.
import type { Leave } from '#node/tasks-part.ts'
import { isOfPage } from '#objects/damage.ts'
import type { Objects } from '#objects/objects.ts'
import { BUCKET_COLUMNS, toBucket, type BucketRow } from '#objects/rows.ts'
import type { Bucket } from '#objects/types.ts'
import type { Queryable } from '#state/connect.ts'

const VERSIONS_MAX = 1000
/** Of one run: it must end in its time. */
const PIECES_MAX = 100

const UNLOCKED = `select key, version_id from object_versions
  where bucket = $1 and not storage_keeps(legal_hold, retention_mode, retain_until, true) limit ${VERSIONS_MAX}`

export const createStorageLeave =
  ({ state, objects }: { readonly state: Queryable; readonly objects: Objects }): Leave =>
  async (account, signal) => {
    const kept: string[] = []
    let last = 0
    for (let pieces = 0; pieces < PIECES_MAX; pieces++) {
      signal.throwIfAborted()
      const bucket = await nextBucket(state, account, last)
      if (bucket === undefined)
        return kept.length === 0
          ? undefined
          : `object lock still holds, or a page cannot be read, in ${kept.join(', ')}`
      const isLess = await emptySome(state, objects, bucket).catch((error: unknown) => {
        if (isOfPage(error)) return false
        throw error
      })
      if (isLess) continue
      const { rows } = await state.query<{ refused: string | null }>(
        'select refused from storage_delete_bucket($1)',
        [bucket.id],
      )
      if (rows[0]?.refused === 'BucketNotEmpty') kept.push(bucket.name)
      last = bucket.id
    }
    return 'objects are being removed'
  }

async function nextBucket(
  state: Queryable,
  account: string,
  after: number,
): Promise<Bucket | undefined> {
  const { rows } = await state.query<BucketRow>(
    `select ${BUCKET_COLUMNS} from buckets b where b.account = $1 and b.id > $2 order by b.id limit 1`,
    [account, after],
  )
  return rows.map((row) => toBucket(row, {}))[0]
}

/** Deletes up to a thousand versions that no lock holds. True where one of them could be deleted. */
export async function emptySome(
  state: Queryable,
  objects: Objects,
  bucket: Bucket,
): Promise<boolean> {
  const { rows } = await state.query<{ key: string; version_id: string }>(UNLOCKED, [bucket.id])
  const deletions = rows.map(({ key, version_id: versionId }) => ({ key, versionId }))
  if (deletions.length === 0) return false
  const answers = await objects.delete(bucket, deletions, { bypassGovernance: true })
  return answers.some((answer) => !('code' in answer))
}
