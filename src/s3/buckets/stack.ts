// Buckets of description files.
import { systemClock } from '#base/clock.ts'
import { createBuckets } from '#objects/create-buckets.ts'
import { createDocuments } from '#objects/documents.ts'
import { createObjects } from '#objects/create-objects.ts'
import { emptySome } from '#objects/upkeep/leave.ts'
import { BUCKET_COLUMNS, toBucket, type BucketRow } from '#objects/rows.ts'
import type { Bucket } from '#objects/types.ts'
import { assertRegion } from '#resources/stack-attributes.ts'
import {
  attributeOf,
  type FoundResource,
  type StackPart,
  type StackProduct,
} from '#resources/stack-part.ts'
import { checkBucketName } from '#s3/bucket-name.ts'
import type { StorageSettings } from '#s3/settings.ts'
import type { Queryable } from '#state/connect.ts'
import { configurationsOf } from './create-bucket.ts'

export const STORAGE_STACK: StackProduct<{ readonly storage: StorageSettings }> = {
  name: 'storage',
  open: (_, { storage }) => ({ bucket: createBucketPart(storage) }),
}

const createBucketPart = (settings: StorageSettings): StackPart<'bucket'> => ({
  secretOutputs: [],
  exclusive: [],
  wanted({ name, spec }) {
    checkBucketName(name)
    assertRegion(spec.region, settings.region)
    return { versioning: attributeOf(spec.versioning ?? false, printVersioning) }
  },
  async find(state, { account, name }) {
    const bucket = await bucketIn(state, 'b.account = $1 and b.name = $2', [account, name])
    return bucket && (await foundOf(state, bucket))
  },
  async apply(transaction, _, { wish, changed }) {
    const { account, name, spec } = wish
    const buckets = createBuckets({ ...partsIn(transaction), bucketsMax: settings.bucketsMax })
    const { bucket, created } = await buckets.create({
      name,
      account,
      region: settings.region,
      objectLock: false,
      configurations: configurationsOf({}, account, settings),
    })
    const isOn = spec.versioning === true
    if (created ? isOn : changed.has('versioning'))
      await buckets.setVersioning(bucket, isOn ? 'enabled' : 'suspended')
    return String(bucket.id)
  },
  async remove(transaction, _, { id }) {
    const bucket = await bucketIn(transaction, 'b.id = $1', [id])
    if (bucket === undefined) return 'removed'
    const parts = partsIn(transaction)
    if (await emptySome(transaction, createObjects(parts), bucket)) return 'more'
    await createBuckets({ ...parts, bucketsMax: settings.bucketsMax }).delete(bucket)
    return 'removed'
  },
})

const printVersioning = (isOn: boolean): string => (isOn ? 'on' : 'off')

const partsIn = (state: Queryable) => ({
  state,
  inTransaction: true,
  finds: state,
  puts: state,
  documents: createDocuments({ state }),
  clock: systemClock,
})

/** A bucket without its configurations. */
async function bucketIn(
  state: Queryable,
  condition: string,
  values: readonly unknown[],
): Promise<Bucket | undefined> {
  const { rows } = await state.query<BucketRow>(
    `select ${BUCKET_COLUMNS} from buckets b where ${condition}`,
    values,
  )
  return rows.map((row) => toBucket(row, {}))[0]
}

async function foundOf(state: Queryable, { id, versioning }: Bucket): Promise<FoundResource> {
  const { rows } = await state.query<{ versions: string }>(
    'select coalesce(sum(versions), 0)::text as versions from bucket_usage where bucket = $1',
    [id],
  )
  const versions = Number(rows[0]?.versions ?? 0)
  return {
    id: String(id),
    attributes: { versioning: printVersioning(versioning === 'enabled') },
    outputs: {},
    progress: 'ready',
    ...(versions > 0 && { holds: `${versions} versions of objects` }),
  }
}
