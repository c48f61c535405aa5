// The buckets of an account that is being deleted: every version, then the bucket. Object lock that still holds is waited
// for; governance mode yields, as it does to the owner. A page that cannot be read keeps the versions behind it alone.
import { Failure } from '#base/errors.ts'
import type { Leave } from '#node/tasks-part.ts'
import { isOfPage, type Damages } from '#objects/damage.ts'
import type { Deleted, Objects } from '#objects/objects.ts'
import { BUCKET_COLUMNS, toBucket, type BucketRow } from '#objects/rows.ts'
import type { Bucket } from '#objects/types.ts'
import type { Queryable } from '#state/connect.ts'
import { forgetPlace } from './place.ts'
import { placeNameOf, scrubRows, type RowPass } from './scrub-rows.ts'

const VERSIONS_MAX = 1000
/** Lists of one run of which versions were removed: it must end in its time. */
const PIECES_MAX = 100
/** Of buckets whose lists cannot be read, in one run: 8000 blocks, and the next run goes on behind them. */
const BYTES_MAX = 64 * 1024 * 1024
const TASK = 'leave'

type Deps = {
  readonly state: Queryable
  readonly objects: Objects
  readonly damages: Pick<Damages, 'tellPage'>
}
type Run = {
  readonly signal: AbortSignal
  pieces: number
  /** Buckets whose lists cannot be read. */
  readonly unlisted: Map<number, Bucket>
}
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
    const run: Run = { signal, pieces: PIECES_MAX, unlisted: new Map() }
    let last = 0
    for (;;) {
      const bucket = await nextBucket(deps, account, last)
      if (bucket === undefined) break
      const end = await leaveBucket(deps, bucket, run)
      if (end === 'more') return 'objects are being removed'
      if (end !== 'gone') kept[end].push(bucket.name)
      last = bucket.id
    }
    const task = `${TASK}:${account}`
    if (run.unlisted.size > 0) await removeByBlocks(deps, task, run)
    if (kept.unread.length > 0)
      throw new Failure(`Could not read a page of the state, in ${kept.unread.join(', ')}`)
    await forgetPlace(deps.state, placeNameOf({ task }))
    return kept.locked.length === 0
      ? undefined
      : `object lock still holds in ${kept.locked.join(', ')}`
  }

/** A page of buckets that cannot be read ends the run, after the alarm: the buckets behind it are not known. */
async function nextBucket(
  { state, damages }: Deps,
  account: string,
  after: number,
): Promise<Bucket | undefined> {
  const { rows } = await state
    .query<BucketRow>(
      `select ${BUCKET_COLUMNS} from buckets b where b.account = $1 and b.id > $2 order by b.id limit 1`,
      [account, after],
    )
    .catch(async (error: unknown) => {
      await damages.tellPage(TASK, error)
      throw error
    })
  return rows.map((row) => toBucket(row, {}))[0]
}

/** Removes all that a list names of a bucket, and the bucket where nothing is left. */
async function leaveBucket(deps: Deps, bucket: Bucket, run: Run): Promise<BucketEnd> {
  const { state } = deps
  let isUnread = false
  let after: Pick<UnlockedVersion, 'key' | 'seq'> | undefined = START
  while (after !== undefined) {
    run.signal.throwIfAborted()
    if (run.pieces === 0) return 'more'
    const listed: readonly UnlockedVersion[] | undefined = await unlessUnread(
      deps,
      bucket,
      unlocked(state, bucket, after),
    )
    if (listed === undefined) run.unlisted.set(bucket.id, bucket)
    const answers = await remove(deps, bucket, (listed ?? []).map(named))
    isUnread ||= listed === undefined || answers === undefined || answers.some(isOfDamage)
    if (answers?.some((answer) => !('code' in answer)) === true) run.pieces--
    after = listed?.at(-1)
  }
  const ended = await unlessUnread(
    deps,
    bucket,
    state.query<{ refused: string | null }>('select refused from storage_delete_bucket($1)', [
      bucket.id,
    ]),
  )
  if (ended === undefined) return 'unread'
  if (ended.rows[0]?.refused !== 'BucketNotEmpty') return 'gone'
  return isUnread ? 'unread' : 'locked'
}

/** Undefined where the work met a page that cannot be read, after the alarm of the page. */
const unlessUnread = <T>(
  { damages }: Deps,
  { id }: Bucket,
  work: Promise<T>,
): Promise<T | undefined> =>
  work.catch(async (error: unknown) => {
    if (!isOfPage(error)) throw error
    await damages.tellPage(TASK, error, { bucket: id })
    return undefined
  })

const remove = async (
  deps: Deps,
  bucket: Bucket,
  versions: readonly NamedVersion[],
): Promise<readonly Deleted[] | undefined> =>
  versions.length === 0
    ? []
    : await unlessUnread(
        deps,
        bucket,
        deps.objects.delete(bucket, versions, { bypassGovernance: true }),
      )

const isOfDamage = (answer: Deleted): boolean => 'code' in answer && answer.code === 'InternalError'

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

/** Steps over blocks that cannot be read, after the alarm of each page. */
async function removeByBlocks(deps: Deps, task: string, { signal, unlisted }: Run): Promise<void> {
  const [first] = unlisted.keys()
  const walk = scrubRows<NamedVersion & { readonly bucket: number }>(
    deps.state,
    passOf(task, [...unlisted.keys()]),
    {
      bytesMax: BYTES_MAX,
      signal,
      async onDamage(versions) {
        for (const [id, own] of Map.groupBy(versions, ({ bucket }) => bucket)) {
          const bucket = unlisted.get(id)
          const names = own.map(({ key, versionId }) => ({ key, versionId }))
          if (bucket !== undefined) await remove(deps, bucket, names)
        }
      },
      onUnreadable: (error, place = first === undefined ? {} : { bucket: first }) =>
        deps.damages.tellPage(TASK, error, place),
    },
  )
  await walk.catch((error: unknown) => {
    if (!isOfPage(error)) throw error
  })
}

/** The versions to remove, in the place of damage. */
function passOf(task: string, buckets: readonly number[]): RowPass {
  const here = `with here as materialized (select ctid as at, bucket, key, version_id, legal_hold, retention_mode, retain_until
    from object_versions where ctid >= $1 and ctid < $2)`
  const own = `where bucket in (${buckets.join(', ')})
    and not storage_keeps(legal_hold, retention_mode, retain_until, true)`
  return {
    task,
    table: 'object_versions',
    blocksMax: 8,
    read: `${here} select json_build_object('size', 0, 'damage',
      json_build_object('bucket', bucket, 'key', key, 'versionId', version_id)) from here ${own}`,
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
