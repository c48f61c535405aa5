// What each bucket stores, for its standing charge of a minute.
import type { Queryable } from '#state/connect.ts'

export type StoredBytes = {
  readonly bucket: number
  readonly name: string
  readonly account: string
  readonly region: string
  /** All versions, and parts of uploads that are not completed yet. */
  readonly bytes: bigint
  readonly versions: bigint
}

/** Buckets by id after one, up to `limit`; the counters are read, not the objects. */
export async function storedBytes(
  state: Queryable,
  page: { after: number; limit: number },
): Promise<StoredBytes[]> {
  const { rows } = await state.query<Omit<StoredBytes, 'bytes' | 'versions'> & Counted>(
    `select b.id as bucket, b.name, b.account, b.region,
       coalesce(u.bytes, 0) + coalesce(p.bytes, 0) as bytes, coalesce(u.versions, 0) as versions
     from (select * from buckets where id > $1 order by id limit $2) b
     left join lateral (
       select sum(bytes) as bytes, sum(versions) as versions from bucket_usage where bucket = b.id
     ) u on true
     left join lateral (
       select sum(p.size) as bytes from uploads o join upload_parts p on p.upload = o.id
       where o.bucket = b.id and o.completed is null
     ) p on true
     order by b.id`,
    [page.after, page.limit],
  )
  return rows.map((row) => ({
    ...row,
    bytes: BigInt(row.bytes),
    versions: BigInt(row.versions),
  }))
}
type Counted = { bytes: string; versions: string }
