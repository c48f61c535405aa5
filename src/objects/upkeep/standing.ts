// The standing charge of buckets, and the balance that an account must keep for what it stores.
import {
  createStoredBytes,
  standingEnergy,
  storedLookOf,
  zjPerByteMs,
  type StoragePower,
  type StoredBytes,
  type StoredBytesDeps,
  type StoredLook,
  type StoredLookRow,
} from '#charging/stored-bytes.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'

/**
 * Days of storage that a balance must pay for; below that the account can store no more, and has this long to fetch
 * its data.
 */
const RESERVE_DAYS = 7n
const DAY_MS = 86_400_000n

export function createStanding(
  deps: StoredBytesDeps & { readonly state: Queryable; readonly power: StoragePower },
): StoredBytes {
  const { state, power } = deps
  return createStoredBytes<number>(deps, {
    operation: 'storage.standing',
    meter: 'storage',
    name: 'stored bytes',
    after: (last, limit) => bucketsAfter(state, { after: last ?? 0, limit }),
    look: (buckets) => lookAtBuckets(state, { ...deps, buckets }),
    isAway: isStateAway,
    resource: ({ name }) => `s3://${name}`,
    sums: (bytesOf) => reserve(state, bytesOf, power),
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

/** Sets what each account must keep of its balance, by its stored bytes. */
async function reserve(
  state: Queryable,
  bytesOf: ReadonlyMap<string, bigint>,
  power: StoragePower,
): Promise<void> {
  const storing = [...bytesOf].filter(([, bytes]) => bytes > 0n)
  await state.query('select storage_reserve($1, $2)', [
    storing.map(([account]) => account),
    storing.map(([, bytes]) => String(standingEnergy(bytes, RESERVE_DAYS * DAY_MS, power))),
  ])
}
