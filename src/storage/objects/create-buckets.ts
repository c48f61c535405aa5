// Buckets and their configurations.
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#storage/errors.ts'
import type { Documents } from './documents.ts'
import type { BucketQuery, Buckets, NewBucket } from './objects.ts'
import { refuse } from './refusal.ts'
import { BUCKET_COLUMNS, type BucketRow, toBucket, toListedBucket } from './rows.ts'
import type { Bucket, ConfigurationKind, Json } from './types.ts'

const BY_NAME = `select ${BUCKET_COLUMNS}, storage_is_read_only(b.account) as is_read_only
  from buckets b where b.name = $1`

type Deps = { readonly state: Queryable; readonly documents: Documents }

export function createBuckets(deps: Deps): Buckets {
  const { state, documents } = deps
  return {
    create: (bucket) => create(deps, bucket),
    async get(name) {
      const { rows } = await state.query<BucketRow>(BY_NAME, [name])
      const [row] = rows
      if (row === undefined) throw storageFault('NoSuchBucket', undefined, { BucketName: name })
      return toBucket(row, await documents.of(row))
    },
    async delete(bucket) {
      const { rows } = await state.query<{ refused: string | null }>(
        'select storage_delete_bucket($1) as refused',
        [bucket.id],
      )
      refuse(rows[0]?.refused)
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

async function create(
  { state, documents }: Deps,
  bucket: NewBucket,
): Promise<{ bucket: Bucket; created: boolean }> {
  const { name, account, region, objectLock, configurations } = bucket
  const made = await state.query<BucketRow>(
    `insert into buckets as b (name, account, region, object_lock, versioning, configurations)
     values ($1, $2, $3, $4, case when $4 then 'enabled' else 'off' end, $5)
     on conflict (name) do nothing returning ${BUCKET_COLUMNS}`,
    [name, account, region, objectLock, JSON.stringify(configurations)],
  )
  const [row] = made.rows
  if (row !== undefined) return { bucket: toBucket(row, configurations), created: true }
  const { rows } = await state.query<BucketRow>(BY_NAME, [name])
  // Deleted in between: it was another's a moment ago, or is free now; a repetition finds out.
  const existing = rows[0]
  if (existing === undefined) throw storageFault('OperationAborted')
  if (existing.account !== account)
    throw storageFault('BucketAlreadyExists', undefined, { BucketName: name })
  return { bucket: toBucket(existing, await documents.of(existing)), created: false }
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
