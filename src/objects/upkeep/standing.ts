// The standing charge of buckets.
import {
  createStoredBytes,
  storedLookOf,
  zjPerByteMs,
  type StoragePower,
  type StoredBytes,
  type StoredBytesDeps,
  type StoredLook,
  type StoredLookRow,
} from '#charging/stored-bytes.ts'
import { keepRetention, type RetentionDeps } from '#node/keep-retention.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'

export function createStanding(deps: StoredBytesDeps & RetentionDeps): StoredBytes {
  const { state } = deps
  return createStoredBytes<number>(deps, {
    operation: 'storage.standing',
    meter: 'storage',
    name: 'stored bytes',
    after: (last, limit) => bucketsAfter(state, { after: last ?? 0, limit }),
    look: (buckets) => lookAtBuckets(state, { ...deps, buckets }),
    isAway: isStateAway,
    resource: ({ name }) => `s3://${name}`,
    sums: (bytesOf) => keepRetention(deps, 'bucket', bytesOf),
  })
}

/** Ids of buckets after an id, with deleted buckets that still owe energy. */
async function bucketsAfter(
  state: Queryable,
  page: { after: number; limit: number },
): Promise<number[]> {
  const { rows } = await state.query<{ id: number }>(
    `(select id from buckets where id > $1 order by id limit $2)
     union
     (select id::int from standing_samples
       where kind = 'bucket' and account is not null and id::int > $1 order by id::int limit $2)
     order by id limit $2`,
    [page.after, page.limit],
  )
  return rows.map(({ id }) => id)
}

/** Samples buckets by id; see storage_look(). */
export async function lookAtBuckets(
  state: Queryable,
  page: { minuteMs: number; buckets: readonly number[]; power: StoragePower },
): Promise<StoredLook[]> {
  const { rows } = await state.query<StoredLookRow>('select * from storage_look($1, $2, $3)', [
    page.minuteMs,
    page.buckets,
    String(zjPerByteMs(page.power)),
  ])
  return rows.map(storedLookOf)
}
