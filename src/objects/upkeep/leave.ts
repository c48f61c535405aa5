// The buckets of an account that is being deleted: every version, then the bucket. Object lock that still holds is waited
// for; governance mode yields, as it does to the owner. A page that cannot be read keeps the versions behind it alone.
import { Failure } from '#base/errors.ts'
import type { Leave } from '#node/tasks-part.ts'
import { isOfPage, type Damages } from '#objects/damage.ts'
import type { Objects } from '#objects/objects.ts'
import { BUCKET_COLUMNS, toBucket, type BucketRow } from '#objects/rows.ts'
import type { Bucket } from '#objects/types.ts'
import type { Queryable } from '#state/connect.ts'
import { forgetPlace } from './place.ts'
import { placeNameOf, scrubRows, type RowPass } from './scrub-rows.ts'

const VERSIONS_MAX = 1000
/** Of one run: it must end in its time. */
const PIECES_MAX = 100
/** Of a bucket whose list cannot be read, in one run: 8000 blocks, and the next run goes on behind them. */
const BYTES_MAX = 64 * 1024 * 1024
const TASK = 'leave'

type Deps = {
  readonly state: Queryable
  readonly objects: Objects
  readonly damages: Pick<Damages, 'tellPage'>
}
type Run = { readonly signal: AbortSignal; pieces: number }
type UnlockedVersion = { readonly key: string; readonly version_id: string; readonly seq: string }
type NamedVersion = { readonly key: string; readonly versionId: string }
type BucketEnd = 'gone' | 'locked' | 'unread' | 'more'

/** Before all versions, whose newest comes first. */
const START = { key: '', seq: String(2n ** 63n - 1n) }

/** Throws a Failure where all that is left is behind pages that cannot be read: only the operator can end that. */
export const createStorageLeave =
  (deps: Deps): Leave =>
  async (account, signal) => {
    const kept: Record<'locked' | 'unread', string[]> = { locked: [], unread: [] }
    const run = { signal, pieces: PIECES_MAX }
    let last = 0
    for (;;) {
      const bucket = await nextBucket(deps.state, account, last)
      if (bucket === undefined) break
      const end = await leaveBucket(deps, bucket, run)
      if (end === 'more') return 'objects are being removed'
      if (end !== 'gone') kept[end].push(bucket.name)
      last = bucket.id
    }
    if (kept.unread.length > 0)
      throw new Failure(`Could not read a page of the state, in ${kept.unread.join(', ')}`)
    return kept.locked.length === 0
      ? undefined
      : `object lock still holds in ${kept.locked.join(', ')}`
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

/** Removes all that can be removed of a bucket, and the bucket where nothing is left. */
async function leaveBucket(deps: Deps, bucket: Bucket, run: Run): Promise<BucketEnd> {
  const { state, objects, damages } = deps
  let isUnread = false
  /** Undefined where the work met a page that cannot be read. */
  const unlessUnread = async <T>(work: Promise<T>): Promise<T | undefined> =>
    await work.catch(async (error: unknown) => {
      if (!isOfPage(error)) throw error
      isUnread = true
      await damages.tellPage(TASK, error, { bucket: bucket.id })
      return undefined
    })
  const remove = async (versions: readonly NamedVersion[]): Promise<void> => {
    const answers = await unlessUnread(objects.delete(bucket, versions, { bypassGovernance: true }))
    if (answers?.some((answer) => 'code' in answer && answer.code === 'InternalError') === true)
      isUnread = true
  }
  let after: Pick<UnlockedVersion, 'key' | 'seq'> | undefined = START
  while (after !== undefined) {
    run.signal.throwIfAborted()
    if (run.pieces-- <= 0) return 'more'
    const listed: readonly UnlockedVersion[] | undefined = await unlessUnread(
      unlocked(state, bucket, after),
    )
    if (listed === undefined) await unlessUnread(removeByBlocks(deps, { bucket, run, remove }))
    else if (listed.length > 0) await remove(listed.map(named))
    after = listed?.at(-1)
  }
  const ended = await unlessUnread(
    state.query<{ refused: string | null }>('select refused from storage_delete_bucket($1)', [
      bucket.id,
    ]),
  )
  if (ended === undefined || ended.rows[0]?.refused === 'BucketNotEmpty')
    return isUnread ? 'unread' : 'locked'
  await forgetPlace(state, placeNameOf(passOf(bucket)))
  return 'gone'
}

/** Versions in the order of the index, which reads each block that has a version of the bucket. */
async function unlocked(
  state: Queryable,
  { id }: Bucket,
  { key, seq }: Pick<UnlockedVersion, 'key' | 'seq'>,
): Promise<readonly UnlockedVersion[]> {
  const { rows } = await state.query<UnlockedVersion>(
    'select key, version_id, seq from storage_unlocked($1, $2, $3::bigint, $4)',
    [id, key, seq, VERSIONS_MAX],
  )
  return rows
}

const named = ({ key, version_id: versionId }: UnlockedVersion): NamedVersion => ({
  key,
  versionId,
})

/** Steps over blocks that cannot be read; then it throws their first error. */
const removeByBlocks = (
  { state, damages }: Deps,
  given: {
    readonly bucket: Bucket
    readonly run: Run
    readonly remove: (versions: readonly NamedVersion[]) => Promise<void>
  },
) =>
  scrubRows<NamedVersion>(state, passOf(given.bucket), {
    bytesMax: BYTES_MAX,
    signal: given.run.signal,
    onDamage: given.remove,
    onUnreadable: (error) => damages.tellPage(TASK, error, { bucket: given.bucket.id }),
  })

/** The versions to remove, in the place of damage. */
function passOf({ id }: Bucket): RowPass {
  const here = `with here as materialized (select ctid as at, bucket, key, version_id, legal_hold, retention_mode, retain_until
    from object_versions where ctid >= $1 and ctid < $2)`
  const own = `where bucket = ${id} and not storage_keeps(legal_hold, retention_mode, retain_until, true)`
  return {
    task: `${TASK}:${id}`,
    table: 'object_versions',
    blocksMax: 8,
    read: `${here} select json_build_object('size', 0, 'damage', json_build_object('key', key, 'versionId', version_id))
      from here ${own}`,
    name: `${here} select json_build_object('at', at, 'place', json_build_object('bucket', bucket)) from here ${own}`,
  }
}

/** Deletes up to a thousand versions that no lock holds. True where one of them could be deleted. */
export async function emptySome(
  state: Queryable,
  objects: Objects,
  bucket: Bucket,
): Promise<boolean> {
  const listed = await unlocked(state, bucket, START)
  if (listed.length === 0) return false
  const answers = await objects.delete(bucket, listed.map(named), { bypassGovernance: true })
  return answers.some((answer) => !('code' in answer))
}
