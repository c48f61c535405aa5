// Ends abandoned uploads, and forgets the answers of completed ones.
import type { Queryable } from '#state/connect.ts'

/** The time in which a repeated CompleteMultipartUpload gets the same answer. */
export const ANSWER_KEPT_MS = 24 * 3_600_000

/** Aborts up to `limit` uploads created before a time, besides lifecycle rules; returns the number. */
export async function expireUploads(
  state: Queryable,
  options: { beforeMs: number; limit: number },
): Promise<number> {
  const { rowCount } = await state.query(
    `select storage_abort(bucket, key, id) from (
       select bucket, key, id from uploads
       where completed is null and initiated_at < to_timestamp($1::float8 / 1000)
       order by initiated_at limit $2
     ) old`,
    [options.beforeMs, options.limit],
  )
  return rowCount
}

/** Forgets up to `limit` answers that are a day old; returns the number. */
export async function forgetCompletions(
  state: Queryable,
  options: { nowMs: number; limit: number },
): Promise<number> {
  const { rowCount } = await state.query(
    `delete from uploads where id = any (array(
       select id from uploads
       where completed is not null and completed_at < to_timestamp($1::float8 / 1000) limit $2))`,
    [options.nowMs - ANSWER_KEPT_MS, options.limit],
  )
  return rowCount
}
