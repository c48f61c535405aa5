// GET /v1/storage/buckets: the buckets of an account by name, with the bytes that their standing charge is for.
import type { StoredBucket } from '#contract/storage/storage-buckets.ts'
import { readListPage } from '#http/list-page.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

const CURSOR = /^[a-z0-9][a-z0-9.-]{2,62}$/

type Row = {
  readonly name: string
  readonly region: string
  readonly stored_bytes: string
  readonly versions: string
  readonly uploads: string
  readonly created_at: Date
}

// As storage_look() counts them.
const BUCKETS = `
  select b.name, b.region, b.created_at, (b.documents_bytes + coalesce(u.bytes, 0))::text as stored_bytes,
    coalesce(u.versions, 0)::text as versions, coalesce(u.uploads, 0)::text as uploads
  from (select * from buckets where account = $1 and name > $2 order by name limit $3) b
  left join lateral (select sum(bytes) as bytes, sum(versions) as versions, sum(uploads) as uploads
    from bucket_usage where bucket = b.id) u on true
  order by b.name`

export const createStorageBuckets =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller, query }) => {
    const page = readListPage(query(), CURSOR)
    const asked = [callerOf({ caller }).account, page.cursor?.[0] ?? '', page.rowsMax]
    const { rows } = await state.query<Row>(BUCKETS, asked)
    return known(page.list(rows, bucketOf, ({ name }) => name))
  }

const bucketOf = (row: Row): StoredBucket => ({
  name: row.name,
  region: row.region,
  stored_bytes: Number(row.stored_bytes),
  versions: Number(row.versions),
  uploads: Number(row.uploads),
  created_at: row.created_at.toISOString(),
})
