// Commits, finds, deletes and changes versions, with at most one round trip each. The rules are in sql/.
import type { TimerClock } from '#base/clock.ts'
import { invariant, present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { isOfPage, type Damages } from './damage.ts'
import { discardBlobs } from './discard-blobs.ts'
import type { Documents } from './documents.ts'
import type { Deleted, Deletion, Objects, ObjectTarget } from './objects.ts'
import { throwRefused, storageCode } from './refusal.ts'
import { createFindObject, type FoundRow } from './find-object.ts'
import { createVersionCommit, type WrittenRow } from './put-object.ts'
import { toBody, toBucket, toVersion } from './rows.ts'
import type { Bucket } from './types.ts'

/**
 * Keys deleted in one transaction: 15 ms of CPU, whose locks delay one put in ten. Each key may also empty eight folders,
 * and 1,000 keys would hold more locks than PostgreSQL has room for.
 */
const BATCH_MAX = 100

const UNMET = `select storage_unmet($3, v.etag, v.size, v.modified_at) as refused
from buckets b left join lateral (
  select * from object_versions o where o.bucket = b.id and o.key = $2 order by o.seq desc limit 1
) v on not v.delete_marker
where b.id = $1`

type Deps = {
  readonly state: Queryable
  /** `state` is a transaction of the caller, which ends at the first error. */
  readonly inTransaction?: boolean
  /** The same for finds, which every request makes, and for puts, which may wait for each other. */
  readonly finds: Queryable
  readonly puts: Queryable
  readonly documents: Documents
  readonly clock: Pick<TimerClock, 'monotonicMs' | 'setTimer'>
  /** Told of a key that cannot be deleted. */
  readonly damages?: Pick<Damages, 'tellPage'> | undefined
}

export function createObjects(deps: Deps): Objects {
  const { state, inTransaction = false, documents, damages } = deps
  const findRow = createFindObject(deps)
  const putRow = createVersionCommit(deps)
  return {
    put: async (bucket, key, written) => toWritten(await putRow({ bucket, key, written })),
    async check(bucket, key, conditions) {
      const { rows } = await state.query<{ refused: string | null }>(UNMET, [
        bucket.id,
        key,
        JSON.stringify(conditions),
      ])
      throwRefused(rows.length === 0 ? 'NoSuchBucket' : rows[0]?.refused)
    },
    discard: async (blobs) => void (await discardBlobs(state, blobs)),
    find: async (bucketName, target) =>
      find(documents, await findRow({ bucketName, target }), { bucketName, target }),
    async delete(bucket, deletions, { bypassGovernance }) {
      const answers: Deleted[] = []
      for (let at = 0; at < deletions.length; at += BATCH_MAX) {
        const batch = { deletions: deletions.slice(at, at + BATCH_MAX), bypassGovernance }
        answers.push(
          // Here a key that cannot be read throws the state's error.
          ...(inTransaction || deletions.length === 1
            ? await deleteBatch(state, bucket, batch)
            : await deleteEach({ state, damages }, bucket, batch)),
        )
      }
      return answers
    },
    async amend(bucket, target, change) {
      const { rows } = await state.query<WrittenRow>(
        'select * from storage_amend($1, $2, $3, $4)',
        [bucket.id, target.key, target.versionId ?? null, JSON.stringify(change)],
      )
      return toWritten(rows[0])
    },
    async reseal({ id }, { key, versionId }, { before, after, despiteLock }) {
      const { rows } = await state.query<{ refused: string | null }>(
        'select storage_reseal($1, $2, $3, $4, $5, $6) as refused',
        [id, key, versionId, JSON.stringify(before), JSON.stringify(after), despiteLock],
      )
      throwRefused(rows[0]?.refused)
    },
  }
}

function toWritten(row: WrittenRow | undefined) {
  const { refused, version_id, modified_ms } = present(row, 'a write has one answer')
  throwRefused(refused)
  return { versionId: version_id, modifiedAtMs: Number(modified_ms) }
}

async function find(
  documents: Documents,
  row: FoundRow,
  { bucketName, target }: { bucketName: string; target: ObjectTarget },
): ReturnType<Objects['find']> {
  const { bucket: found, version } = row
  if (found === null) throw storageFault('NoSuchBucket', undefined, { BucketName: bucketName })
  const bucket = toBucket(found, await documents.of(found))
  if (version === null) return { bucket }
  return { bucket, found: { version: toVersion(target.key, version), body: toBody(version) } }
}

type DeletionBatch = { readonly deletions: readonly Deletion[]; readonly bypassGovernance: boolean }

/**
 * One key behind a damaged page keeps no other of its batch: the batch is halved until that key is alone, so a hundred keys
 * with a damaged one take 15 statements.
 */
async function deleteEach(
  deps: Pick<Deps, 'state' | 'damages'>,
  bucket: Bucket,
  batch: DeletionBatch,
): Promise<readonly Deleted[]> {
  const { deletions } = batch
  let damage: unknown
  try {
    return await deleteBatch(deps.state, bucket, batch)
  } catch (error) {
    if (!isOfPage(error)) throw error
    damage = error
  }
  const [deletion, ...others] = deletions
  if (deletion === undefined) return []
  if (others.length === 0) {
    const place = { bucket: bucket.id, key: deletion.key }
    await deps.damages?.tellPage('request', damage, place).catch(() => undefined)
    return [{ key: deletion.key, code: 'InternalError' }]
  }
  const middle = Math.ceil(deletions.length / 2)
  const answers: Deleted[] = []
  for (const half of [deletions.slice(0, middle), deletions.slice(middle)])
    answers.push(...(await deleteEach(deps, bucket, { ...batch, deletions: half })))
  return answers
}

async function deleteBatch(
  state: Queryable,
  bucket: Bucket,
  batch: DeletionBatch,
): Promise<Deleted[]> {
  const { rows } = await state.query<{
    refused: string | null
    version_id: string | null
    marker: boolean
    blobs: number
  }>('select * from storage_delete($1, $2, $3)', [
    bucket.id,
    JSON.stringify(batch.deletions),
    batch.bypassGovernance,
  ])
  if (rows[0]?.refused === 'NoSuchBucket') throwRefused(rows[0].refused)
  invariant(rows.length === batch.deletions.length, 'each deletion has an answer')
  return rows.map((row, at) => {
    const { key } = present(batch.deletions[at], 'each answer has a deletion')
    if (row.refused !== null) return { key, code: storageCode(row.refused) }
    const { version_id: versionId, marker: deleteMarker, blobs } = row
    return { key, versionId: versionId ?? undefined, deleteMarker, blobs }
  })
}
