// Uploads in parts. A completed upload keeps its answer: a repeated completion gets the same answer.
import { createHash } from 'node:crypto'
import type { Clock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { newIdBody } from '#base/ids.ts'
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Completed, Completion, Uploads } from './objects.ts'
import { throwRefused } from './refusal.ts'
import {
  PART_COLUMNS,
  type PartRow,
  type UploadRow,
  toUpload,
  toUploadPart,
  writtenParts,
} from './rows.ts'
import type { Bucket, Part, UploadPart } from './types.ts'

/** All parts but the last one have this size at least (Amazon S3, "Multipart upload limits"). */
export const PART_SIZE_MIN = 5 * 1024 * 1024
export const PART_COUNT_MAX = 10_000
/**
 * The most open uploads of a bucket, because deleting the bucket ends all of them in one transaction. Other accounts
 * may open half as many.
 */
const OPEN_MAX = 10_000

export function createUploads(deps: {
  state: Queryable
  clock: Clock
  partSizeMin?: number
  openMax?: number
}): Uploads {
  const { state, clock, partSizeMin = PART_SIZE_MIN, openMax = OPEN_MAX } = deps
  return {
    async create(bucket, { key, initiator, attributes, isGuest = false }) {
      const most = isGuest ? Math.floor(openMax / 2) : openMax
      const id = newIdBody(clock.wallMs())
      const { rows } = await state.query<{ refused: string | null; initiated_at: Date }>(
        'select * from storage_begin_upload($1, $2, $3, $4, $5, $6)',
        [bucket.id, key, id, initiator, JSON.stringify(attributes), most],
      )
      const row = present(rows[0], 'an upload has one answer')
      throwRefused(row.refused)
      return { id, key, initiatedAtMs: row.initiated_at.getTime(), initiator, attributes }
    },
    async find(bucket, upload) {
      const row = await findAny(state, bucket, upload)
      return row && { ...toUpload(row), isCompleted: row.completed !== null }
    },
    putPart: (bucket, upload, part) => putPart(state, bucket, upload, part),
    async parts(bucket, upload, { after, limit }) {
      const found = await find(state, bucket, upload)
      const rows = await selectParts(state, found.id, { after, limit: limit + 1 })
      return {
        upload: toUpload(found),
        parts: rows.slice(0, limit),
        truncated: limit > 0 && rows.length > limit,
      }
    },
    complete: (bucket, upload, completion) =>
      complete(state, bucket, upload, { ...completion, partSizeMin }),
    async abort(bucket, { key, uploadId }) {
      const { rows } = await state.query<{ removed: number | null }>(
        'select storage_abort($1, $2, $3) as removed',
        [bucket.id, key, uploadId],
      )
      const removed = rows[0]?.removed ?? null
      if (removed === null) throw storageFault('NoSuchUpload')
      return removed
    },
  }
}

type UploadName = { readonly key: string; readonly uploadId: string }
/** The answer that storage_complete keeps with an upload. */
type StoredCompletion = Omit<Completed, 'encryption'>
type AnyUploadRow = UploadRow & { completed: ({ request: string } & StoredCompletion) | null }

async function findAny(
  state: Queryable,
  bucket: Bucket,
  { key, uploadId }: UploadName,
): Promise<AnyUploadRow | undefined> {
  const { rows } = await state.query<AnyUploadRow>(
    'select id, key, initiator, initiated_at, attributes, completed from uploads where id = $1 and bucket = $2 and key = $3',
    [uploadId, bucket.id, key],
  )
  return rows[0]
}

async function find(state: Queryable, bucket: Bucket, upload: UploadName): Promise<UploadRow> {
  const row = await findAny(state, bucket, upload)
  if (row?.completed === null) return row
  throw storageFault('NoSuchUpload', undefined, { UploadId: upload.uploadId })
}

async function selectParts(
  state: Queryable,
  uploadId: string,
  { after, limit }: { after: number; limit: number },
): Promise<UploadPart[]> {
  const { rows } = await state.query<PartRow>(
    `select ${PART_COLUMNS} from upload_parts p join blobs b on b.id = p.blob
     where p.upload = $1 and p.number > $2 order by p.number limit $3`,
    [uploadId, after, limit],
  )
  return rows.map(toUploadPart)
}

async function putPart(
  state: Queryable,
  bucket: Bucket,
  { key, uploadId }: UploadName,
  part: Part,
): Promise<{ modifiedAtMs: number }> {
  const { rows } = await state.query<{ refused: string | null; modified_at: Date }>(
    'select * from storage_put_part($1, $2, $3, $4)',
    [bucket.id, key, uploadId, JSON.stringify(part)],
  )
  const row = present(rows[0], 'a part has one answer')
  throwRefused(row.refused)
  return { modifiedAtMs: row.modified_at.getTime() }
}

async function complete(
  state: Queryable,
  bucket: Bucket,
  upload: UploadName,
  completion: Completion & { partSizeMin: number },
): Promise<Completed> {
  const request = digest(completion.parts)
  // Parts before the upload: a completion removes them, so parts read after the upload could be missing.
  const known = await selectParts(state, upload.uploadId, { after: 0, limit: PART_COUNT_MAX })
  const found = await findAny(state, bucket, upload)
  if (found?.completed?.request === request) return answered(found, found.completed)
  if (found?.completed !== null)
    throw storageFault('NoSuchUpload', undefined, { UploadId: upload.uploadId })
  const parts = chosen(known, completion)
  const written = {
    ...found.attributes,
    ...(await completion.compose(parts, toUpload(found))),
    size: parts.reduce((total, part) => total + part.size, 0),
    conditions: completion.conditions,
    event: 'ObjectCreated:CompleteMultipartUpload',
    partCount: parts.length,
    ...writtenParts(parts),
  }
  const { rows } = await state.query<{ refused: string | null; answer: StoredCompletion }>(
    'select * from storage_complete($1, $2, $3, $4, $5)',
    [bucket.id, upload.key, upload.uploadId, request, JSON.stringify(written)],
  )
  const row = present(rows[0], 'a completion has one answer')
  throwRefused(row.refused)
  return answered(found, row.answer)
}

const answered = ({ attributes }: UploadRow, answer: StoredCompletion): Completed => ({
  versionId: answer.versionId,
  modifiedAtMs: answer.modifiedAtMs,
  etag: answer.etag,
  size: answer.size,
  checksums: answer.checksums,
  encryption: attributes.encryption,
})

/** The parts that the client lists, checked against those that were uploaded. */
function chosen(
  known: readonly UploadPart[],
  { parts, partSizeMin }: { parts: Completion['parts']; partSizeMin: number },
): UploadPart[] {
  const byNumber = new Map(known.map((part) => [part.number, part]))
  let before = 0
  for (const { number } of parts) {
    if (number <= before) throw storageFault('InvalidPartOrder')
    before = number
  }
  const found = parts.map(({ number, etag }) => {
    const part = byNumber.get(number)
    if (part?.etag !== etag)
      throw storageFault('InvalidPart', undefined, { PartNumber: number, ETag: etag })
    return part
  })
  if (found.length === 0) throw storageFault('InvalidPart')
  const small = found.slice(0, -1).find(({ size }) => size < partSizeMin)
  if (small !== undefined)
    throw storageFault('EntityTooSmall', undefined, {
      ETag: small.etag,
      MinSizeAllowed: partSizeMin,
      PartNumber: small.number,
      ProposedSize: small.size,
    })
  return found
}

const digest = (parts: Completion['parts']): string =>
  createHash('sha256')
    .update(parts.map(({ number, etag }) => `${number}:${etag}`).join('\n'))
    .digest('base64url')
