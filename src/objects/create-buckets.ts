// Buckets and their configurations.
import type { TimerClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Documents } from './documents.ts'
import type { BucketQuery, Buckets, NewBucket } from './objects.ts'
import { throwRefused } from './refusal.ts'
import { gather, isUndoneRead } from './gather.ts'
import { BUCKET_COLUMNS, type BucketRow, inOrder, toBucket, toListedBucket } from './rows.ts'
import type { Bucket, ConfigurationKind, Json } from './types.ts'

// The array comes from a subquery for the reason in find-object.ts.
const BY_NAME = `select r.n::int, ${BUCKET_COLUMNS}, storage_is_read_only(b.account) as is_read_only
  from unnest((select $1::text[])) with ordinality as r (name, n) left join buckets b on b.name = r.name`
const TOGETHER_MAX = 32

type Deps = {
  readonly state: Queryable
  /** The same for finds, which every request makes. */
  readonly finds: Queryable
  readonly documents: Documents
  readonly clock: Pick<TimerClock, 'setTimer'>
  /** The most buckets of an account. */
  readonly bucketsMax: number
}
type Find = (name: string) => Promise<BucketRow | undefined>

export function createBuckets(deps: Deps): Buckets {
  const { state, documents } = deps
  const find = createFind(deps)
  return {
    create: (bucket) => create(deps, find, bucket),
    async get(name) {
      const row = await find(name)
      if (row === undefined) throw storageFault('NoSuchBucket', undefined, { BucketName: name })
      return toBucket(row, await documents.of(row))
    },
    async delete(bucket) {
      const { rows } = await state.query<{ refused: string | null; removed: number }>(
        'select * from storage_delete_bucket($1)',
        [bucket.id],
      )
      const { refused, removed } = present(rows[0], 'a deletion has one answer')
      throwRefused(refused)
      return removed
    },
    list: (query) => list(state, query),
    configure: (bucket, kind, value) => configure(state, bucket, { kind, value }),
    setVersioning: (bucket, versioning) =>
      change(state, bucket, {
        sql: "versioning = $2 where id = $1 and ($2 = 'enabled' or not object_lock)",
        values: [versioning],
        otherwise: 'InvalidBucketState',
      }),
    enableObjectLock: (bucket) =>
      change(state, bucket, {
        sql: "object_lock = true, versioning = 'enabled' where id = $1",
        values: [],
        otherwise: 'NoSuchBucket',
      }),
  }
}

/** The bucket of a name; concurrent requests share a query. */
function createFind({ finds, clock }: Deps): Find {
  type Found = BucketRow & { n: number; id: number | null }
  const findRow = gather({
    async ask(names: readonly string[]) {
      const { rows } = await finds.query<Found>(BY_NAME, [names])
      return inOrder(rows, names.length)
    },
    clock,
    most: TOGETHER_MAX,
    isUndone: isUndoneRead,
  })
  return async (name) => {
    const row = await findRow(name)
    return row.id === null ? undefined : row
  }
}

async function create(
  { state, documents, bucketsMax }: Deps,
  find: Find,
  given: NewBucket,
): Promise<{ bucket: Bucket; created: boolean }> {
  const made = await state.query<{ refused: string | null }>(
    'select storage_create_bucket($1, $2) as refused',
    [JSON.stringify(given), bucketsMax],
  )
  const refused = made.rows[0]?.refused
  if (refused !== 'BucketAlreadyExists') throwRefused(refused)
  const row = await find(given.name)
  // Deleted meanwhile: the name belonged to another account, or is free now. A retry finds out.
  if (row === undefined) throw storageFault('OperationAborted')
  if (row.account !== given.account)
    throw storageFault('BucketAlreadyExists', undefined, { BucketName: given.name })
  return { bucket: toBucket(row, await documents.of(row)), created: refused === null }
}

async function list(state: Queryable, query: BucketQuery): ReturnType<Buckets['list']> {
  const { account, prefix = '', region = null, after = '', limit } = query
  const { rows } = await state.query<BucketRow>(
    `select ${BUCKET_COLUMNS} from buckets b
     where account = $1 and name > $2 and starts_with(name, $3) and ($4::text is null or region = $4)
     order by name limit $5`,
    [account, after, prefix, region, limit + 1],
  )
  const buckets = rows.slice(0, limit).map(toListedBucket)
  return { buckets, next: rows.length > limit ? buckets.at(-1)?.name : undefined }
}

async function configure(
  state: Queryable,
  bucket: Bucket,
  { kind, value }: { kind: ConfigurationKind; value: Json },
): Promise<void> {
  const set =
    value === null
      ? 'configurations = configurations - $2::text'
      : 'configurations = configurations || jsonb_build_object($2::text, $3::jsonb)'
  await change(state, bucket, {
    sql: `${set}, edition = edition + 1 where id = $1`,
    values: value === null ? [kind] : [kind, JSON.stringify(value)],
    otherwise: 'NoSuchBucket',
  })
}

async function change(
  state: Queryable,
  bucket: Bucket,
  {
    sql,
    values,
    otherwise,
  }: { sql: string; values: readonly string[]; otherwise: 'NoSuchBucket' | 'InvalidBucketState' },
): Promise<void> {
  const { rowCount } = await state.query(`update buckets set ${sql}`, [bucket.id, ...values])
  if (rowCount === 0) throw storageFault(otherwise)
}
