// Finds the bucket and the version of a request in one query; concurrent requests share a query.
import type { TimerClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { gather, isUndoneRead } from './gather.ts'
import type { ObjectTarget } from './objects.ts'
import {
  BUCKET_COLUMNS,
  inOrder,
  type BucketRow,
  VERSION_COLUMNS,
  type VersionRow,
} from './rows.ts'

type ObjectLookup = { readonly bucketName: string; readonly target: ObjectTarget }

/** Null when absent. */
export type FoundRow = { readonly bucket: BucketRow | null; readonly version: VersionRow | null }

/**
 * Inline bodies have at most 32 KiB, so the longest answer has a megabyte of them, or 2 MB of parts. An answer of more
 * than 64 MiB fails, and each find of that answer is asked again alone.
 */
const TOGETHER_MAX = 32
/** An object of more parts is found alone: 10,000 of them take 6 MB. */
const PARTS_TOGETHER_MAX = 100
/** The checksums of larger objects are read with their bytes, part by part. */
const CHECKSUMS_SIZE_MAX = 1024 ** 3

// Arrays from subqueries have no known length. For each length the server would make another plan, in 400 µs.
const FIND = `select r.n::int, ${BUCKET_COLUMNS}, ${VERSION_COLUMNS}
  from unnest((select $1::text[]), (select $2::text[]), (select $3::text[]))
    with ordinality as r (bucket, key, version, n)
  left join buckets b on b.name = r.bucket
  cross join lateral (
    select case when r.version is not null then storage_find(b.id, r.key, r.version) end as seq) named
  left join lateral (
    select o.*, case
        when o.parts is null then null
        when (select cardinality((select $1::text[]))) > 1
          and jsonb_array_length(o.parts) > ${PARTS_TOGETHER_MAX} then '[]'
        else storage_located(o.parts, o.size <= ${CHECKSUMS_SIZE_MAX}) end as located
    from object_versions o
    where o.bucket = b.id and o.key = r.key
      and o.seq >= case when r.version is null then 0 else named.seq end
      and o.seq <= case when r.version is null then 9223372036854775807 else named.seq end
    order by o.seq desc limit 1) v on true`

/** Finds a version; the latest when the target names none. */
export const createFindObject = (deps: {
  finds: Queryable
  clock: Pick<TimerClock, 'setTimer'>
}): ((question: ObjectLookup) => Promise<FoundRow>) => {
  const findTogether = gather({
    ask: (questions: readonly ObjectLookup[]) => ask(deps.finds, questions),
    clock: deps.clock,
    most: TOGETHER_MAX,
    isUndone: isUndoneRead,
  })
  return async (question) => {
    const row = await findTogether(question)
    if (row.version?.located?.length !== 0) return row
    return present((await ask(deps.finds, [question]))[0], 'a question has an answer')
  }
}

/** The columns of a bucket and of its version; all of them are null when it is absent. */
type Columns = { n: number } & BucketRow & VersionRow
type FoundColumns = { [name in keyof Columns]: Columns[name] | null } & { n: number }

async function ask(finds: Queryable, questions: readonly ObjectLookup[]): Promise<FoundRow[]> {
  const { rows } = await finds.query<FoundColumns>(FIND, [
    questions.map(({ bucketName }) => bucketName),
    questions.map(({ target }) => target.key),
    questions.map(({ target }) => target.versionId ?? null),
  ])
  return inOrder(rows, questions.length).map((row) => ({
    bucket: row.id === null ? null : (row as BucketRow),
    version: row.version_id === null ? null : (row as VersionRow),
  }))
}
