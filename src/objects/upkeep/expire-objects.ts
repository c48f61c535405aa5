// Applies lifecycle rules: walks the versions of each bucket with rules, a bounded number at a call, deletes expired
// versions, and sets storage classes that are due. Object lock protects locked versions.
import type { Clock } from '#base/clock.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { type Lifecycle, DAY_MS } from '#objects/lifecycle/rules.ts'
import {
  isUploadDue,
  lifecycleAction,
  lifecycleClass,
  type At,
  type LifecycleVersion,
} from '#objects/lifecycle/due.ts'
import { isOfPage } from '#objects/damage.ts'
import type { Deletion, Objects } from '#objects/objects.ts'
import { BUCKET_COLUMNS, type BucketRow, toBucket } from '#objects/rows.ts'
import type { Bucket } from '#objects/types.ts'
import { loadPlace, savePlace } from './place.ts'

const TASK = 'lifecycle'
const UPLOADS_PAGE = 1000
type ExpiryCursor = { readonly bucket: number; readonly key: string; readonly seq: string }
// Greater than any seq: all versions of the keys after ''.
const SEQ_END = '9223372036854775807'
const BEGINNING: ExpiryCursor = { bucket: 0, key: '', seq: SEQ_END }

type ExpiringUpload = SqlRow & { id: string; key: string; initiated_at: Date }
const UPLOADS = `select id, key, initiated_at from uploads
where bucket = $1 and completed is null and (key, id) > ($2, $3) order by key, id limit $4`

export type Expiry = { readonly examined: number; readonly deleted: number; readonly done: boolean }

/**
 * Examines up to `limit` versions of one bucket, from where the last call ended; `done` says that a round over all
 * buckets has ended. A day has `dayMs`.
 */
export async function expireObjects(
  deps: { state: Queryable; objects: Objects; clock: Clock },
  options: { limit: number; signal: AbortSignal; dayMs?: number },
): Promise<Expiry> {
  const { state, objects, clock } = deps
  const { limit, signal, dayMs = DAY_MS } = options
  signal.throwIfAborted()
  const place = parsePlace(await loadPlace(state, TASK))
  const bucket = await bucketFrom(state, place.bucket)
  if (bucket === undefined) {
    await savePlace(state, TASK, undefined)
    return { examined: 0, deleted: 0, done: true }
  }
  const from = bucket.id === place.bucket ? place : { ...BEGINNING, bucket: bucket.id }
  const day = { nowMs: clock.wallMs(), dayMs }
  const lifecycle = lifecycleOf(bucket)
  if (from.key === '') await abortUploads(state, bucket, lifecycle, { ...day, signal })
  const rows = await versionsFrom(state, from, limit)
  const deletions: Deletion[] = []
  const changes: Change[] = []
  for (const row of rows)
    if (lifecycleAction(lifecycle, toVersion(row), day) !== undefined)
      deletions.push(toDeletion(row))
    else changes.push(...changesOf(lifecycle, row, day))
  // A page that cannot be read must not hold up the versions behind it.
  let unreadable: unknown
  const answers = await objects
    .delete(bucket, deletions, { bypassGovernance: false })
    .catch((error: unknown) => {
      if (!isOfPage(error)) throw error
      unreadable = error
      return []
    })
  await transition(state, bucket, changes)
  const last = rows.at(-1)
  const next =
    last !== undefined && rows.length === limit
      ? { bucket: bucket.id, key: last.key, seq: last.seq }
      : { ...BEGINNING, bucket: bucket.id + 1 }
  await savePlace(state, TASK, JSON.stringify(next))
  if (unreadable !== undefined) throw unreadable
  const deleted = answers.filter((answer) => !('code' in answer)).length
  return { examined: rows.length, deleted, done: false }
}

const parsePlace = (text: string | undefined): ExpiryCursor =>
  text === undefined ? BEGINNING : (JSON.parse(text) as ExpiryCursor)

// The protocol checked the document before it was stored.
const lifecycleOf = (bucket: Bucket): Lifecycle =>
  (bucket.configurations.lifecycle as Lifecycle | undefined) ?? { rules: [] }

async function bucketFrom(state: Queryable, id: number): Promise<Bucket | undefined> {
  const { rows } = await state.query<BucketRow & Pick<Bucket, 'configurations'>>(
    `select ${BUCKET_COLUMNS}, b.configurations from buckets b
     where b.id >= $1 and b.configurations ? 'lifecycle' order by b.id limit 1`,
    [id],
  )
  return rows.map((row) => toBucket(row, row.configurations))[0]
}

type ExpiringVersion = SqlRow & {
  key: string
  seq: string
  version_id: string
  is_latest: boolean
  delete_marker: boolean
  size: string
  etag: string
  storage_class: string
  tags: Record<string, string>
  modified_at: Date
  replaced_at: Date | null
  newer: number
  alone: boolean
}

// Rules keep at most 100 older versions: no need to count further.
const VERSIONS = `select v.key, v.seq, v.version_id, v.is_latest, v.delete_marker, v.size, v.etag, v.tags,
  v.storage_class, v.modified_at,
  case when not v.is_latest then (select n.modified_at from object_versions n
    where n.bucket = v.bucket and n.key = v.key and n.seq > v.seq order by n.seq limit 1) end as replaced_at,
  case when v.is_latest then 0 else (select count(*)::int - 1 from (select from object_versions n
    where n.bucket = v.bucket and n.key = v.key and n.seq > v.seq limit 102) newer) end as newer,
  v.is_latest and not exists (select from object_versions o
    where o.bucket = v.bucket and o.key = v.key and o.seq < v.seq) as alone
from object_versions v
where v.bucket = $1 and v.key >= $2 and (v.key > $2 or v.seq < $3)
order by v.key, v.seq desc limit $4`

async function versionsFrom(
  state: Queryable,
  from: ExpiryCursor,
  limit: number,
): Promise<ExpiringVersion[]> {
  const values = [from.bucket, from.key, from.seq, limit]
  return (await state.query<ExpiringVersion>(VERSIONS, values)).rows
}

const toVersion = (row: ExpiringVersion): LifecycleVersion & { readonly storageClass: string } => ({
  storageClass: row.storage_class,
  key: row.key,
  isLatest: row.is_latest,
  deleteMarker: row.delete_marker,
  size: Number(row.size),
  tags: row.tags,
  modifiedAtMs: row.modified_at.getTime(),
  noncurrentSinceMs: row.replaced_at?.getTime(),
  newerNoncurrent: row.newer,
  alone: row.alone,
})

/**
 * Deletes the latest object like a client, but only while it is the examined one. `null` is the last object written
 * without an id. The ETag of a marker is that of no object. An older version becomes the object again when its owner
 * removes the marker.
 */
const toDeletion = (row: ExpiringVersion): Deletion => ({
  key: row.key,
  ...(row.is_latest && !row.delete_marker ? {} : { versionId: row.version_id }),
  conditions: {
    ifMatch: [row.etag],
    ifMatchModifiedMs: row.modified_at.getTime(),
    ifNoncurrent: !row.is_latest,
  },
})

type Change = {
  readonly key: string
  readonly seq: string
  readonly etag: string
  readonly modifiedMs: number
  readonly storageClass: string
}

/** The version's new class, when it changes. */
function changesOf(lifecycle: Lifecycle, row: ExpiringVersion, day: At): Change[] {
  const storageClass = lifecycleClass(lifecycle, toVersion(row), day)
  if (storageClass === undefined) return []
  const { key, seq, etag } = row
  return [{ key, seq, etag, modifiedMs: row.modified_at.getTime(), storageClass }]
}

async function transition(
  state: Queryable,
  bucket: Bucket,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return
  await state.query('select storage_transition($1, $2)', [bucket.id, JSON.stringify(changes)])
}

async function abortUploads(
  state: Queryable,
  bucket: Bucket,
  lifecycle: Lifecycle,
  { signal, ...day }: At & { readonly signal: AbortSignal },
): Promise<void> {
  for (let last: ExpiringUpload | undefined; ;) {
    signal.throwIfAborted()
    const { rows } = await state.query<ExpiringUpload>(UPLOADS, [
      bucket.id,
      last?.key ?? '',
      last?.id ?? '',
      UPLOADS_PAGE,
    ])
    for (const { id, key, initiated_at: at } of rows)
      if (isUploadDue(lifecycle, { key, initiatedAtMs: at.getTime() }, day))
        await state.query('select storage_abort($1, $2, $3)', [bucket.id, key, id])
    if (rows.length < UPLOADS_PAGE) return
    last = rows.at(-1)
  }
}
