// The standing charge of buckets.
import type { StoredBytes } from '#charging/stored-bytes.ts'
import { createStoredThings, type StoredThingsDeps } from '#node/stored-things.ts'

export const createStanding = (deps: StoredThingsDeps): StoredBytes =>
  createStoredThings<number>(deps, {
    operation: 'storage.standing',
    meter: 'storage',
    name: 'stored bytes',
    source: 'bucket',
    after: `(select id from buckets where id > $1 order by id limit $2)
      union
      (select id::int from standing_samples
        where kind = 'bucket' and account is not null and id::int > $1 order by id::int limit $2)
      order by id limit $2`,
    first: 0,
    look: 'storage_look',
    resource: ({ name }) => `s3://${name}`,
  })
