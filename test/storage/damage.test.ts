// Bodies whose bytes have changed on the disk or in a row, or are gone. Nobody gets bytes that differ from the stored, and
// the operator gets an alarm with the name of the blob or the key.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAnnotationCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectAnnotationCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-damage'
const MIB = 1_048_576
const BROKEN = { name: 'InternalError', message: /^The stored bytes of this object are damaged/ }

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

type Stored = { readonly Key: string; readonly id: string; readonly bytes: Buffer }

async function put(Key: string, size: number): Promise<Stored> {
  const bytes = randomBytes(size)
  await s3.send(new PutObjectCommand({ Bucket, Key, Body: bytes }))
  const [row] = await ergon.sql<{ id: string }>(
    `select parts #>> '{0,blob}' as id from object_versions v join buckets b on b.id = v.bucket
     where b.name = $1 and v.key = $2`,
    [Bucket, Key],
  )
  assert.ok(row)
  return { Key, id: row.id, bytes }
}

const fileOf = ({ id }: Stored) => join(ergon.dataFolder, 'blobs', id.slice(0, 2), id)

function flip(stored: Stored, at: number): void {
  const bytes = readFileSync(fileOf(stored))
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x80, at)
  writeFileSync(fileOf(stored), bytes)
}

/** The received bytes of an object, and whether the answer was complete. */
async function read({ Key }: Stored, Range?: string): Promise<{ given: Buffer; ended: boolean }> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }))
  const given: Buffer[] = []
  try {
    for await (const chunk of Body as AsyncIterable<Buffer>) given.push(chunk)
    return { given: Buffer.concat(given), ended: true }
  } catch {
    return { given: Buffer.concat(given), ended: false }
  }
}

/** The blobs of the alarms; then no alarm is left for the other parts. */
async function alarmed(): Promise<(string | undefined)[]> {
  const rows = await ergon.sql<{ id: string }>(
    "delete from alarms where kind = 'blob_damaged' returning detail ->> 'id' as id",
  )
  return rows.map(({ id }) => id)
}

test('a flipped byte is 500 or breaks the connection, and no byte of it is given', async () => {
  const small = await put('small', MIB / 2)
  const large = await put('large', 3 * MIB)
  flip(small, 1000)
  flip(large, 2 * MIB)
  await assert.rejects(read(small), BROKEN)
  await assert.rejects(read(small, 'bytes=0-99'), BROKEN)
  const { given, ended } = await read(large)
  assert.ok(!ended && given.length <= 2 * MIB, `${given.length} bytes were given`)
  assert.ok(given.equals(large.bytes.subarray(0, given.length)))
  // Intact bytes are served, by ranges that do not meet the damage.
  const range = await read(large, `bytes=100-${MIB}`)
  assert.ok(range.ended && range.given.equals(large.bytes.subarray(100, MIB + 1)))
  await s3.send(new HeadObjectCommand({ Bucket, Key: small.Key }))
  assert.deepEqual((await alarmed()).toSorted(), [small.id, large.id].toSorted())
  flip(small, 1000)
  flip(large, 2 * MIB)
  assert.ok((await read(large)).given.equals(large.bytes))
})

test('a copy of an object whose blob is gone or damaged is refused where bytes are looked at', async () => {
  const source = await put('source', MIB)
  const CopySource = `${Bucket}/source`
  const copy = (more = {}) =>
    s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource, ...more }))
  const upload = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }))
  const { UploadId } = upload
  const part = { Bucket, Key: 'parts', UploadId, PartNumber: 1, CopySource }
  flip(source, 5)
  await assert.rejects(copy({ ServerSideEncryption: 'AES256' }), BROKEN)
  await assert.rejects(s3.send(new UploadPartCopyCommand(part)), BROKEN)
  rmSync(fileOf(source))
  await assert.rejects(copy(), BROKEN)
  await assert.rejects(s3.send(new UploadPartCopyCommand(part)), BROKEN)
  await assert.rejects(read(source), BROKEN)
  await assert.rejects(s3.send(new HeadObjectCommand({ Bucket, Key: 'copy' })), {
    name: 'NotFound',
  })
  await s3.send(new AbortMultipartUploadCommand({ Bucket, Key: 'parts', UploadId }))
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'source' }))
  assert.deepEqual(await alarmed(), [source.id])
})

test('a listing that lost a folder is mended by the upkeep, which tells the operator', async () => {
  await s3.send(new PutObjectCommand({ Bucket, Key: 'lost/key', Body: 'x' }))
  const folders = async () => {
    const page = await s3.send(new ListObjectsV2Command({ Bucket, Delimiter: '/', Prefix: 'lost' }))
    return page.CommonPrefixes?.map(({ Prefix }) => Prefix) ?? []
  }
  const planted = await ergon.sql<{ bucket: number }>(
    `delete from object_folders where name in ('lost/', '') and parent in ('', 'lost/')
       and bucket = (select id from buckets where name = $1) returning bucket`,
    [Bucket],
  )
  assert.deepEqual(await folders(), [], 'the planted fault')
  // The process of tasks starts after the product answers.
  const signal = AbortSignal.timeout(60_000)
  const run = () => ergon.control('task.run', { name: 'objects.clean' })
  while (!(await run().then(Boolean, () => false))) await pause(100, undefined, { signal })
  while ((await folders()).length === 0) await pause(100, undefined, { signal })
  assert.deepEqual(await folders(), ['lost/'])
  // The alarm comes before the mend.
  const alarms = await ergon.sql<{ bucket: number }>(
    "delete from alarms where kind = 'folders_wrong' returning (detail ->> 'bucket')::int as bucket",
  )
  assert.deepEqual(alarms, [{ bucket: planted[0]?.bucket }])
})

test('damaged bytes in a row have the same words as in a blob, and an alarm names them', async () => {
  const object = { Bucket, Key: 'sealed' }
  await s3.send(new PutObjectCommand({ ...object, Body: 'text', ServerSideEncryption: 'AES256' }))
  const shorter = { Bucket, Key: 'shorter' }
  const flippedBit = { Bucket, Key: 'flipped' }
  for (const place of [shorter, flippedBit])
    await s3.send(new PutObjectCommand({ ...place, Body: 'text' }))
  const note = { ...shorter, AnnotationName: 'damaged-note' }
  const AnnotationPayload = Buffer.from('a note')
  await s3.send(new PutObjectAnnotationCommand({ ...note, AnnotationPayload }))
  const flipped = 'set_byte(b, 1, get_byte(b, 1) # 128)'
  await ergon.sql(
    `update object_versions v set inline = case v.key when 'shorter' then substr(inline, 2)
       else ${flipped.replaceAll('b,', 'inline,')} end
     from buckets b where b.id = v.bucket and b.name = $1 and v.key in ('sealed', 'shorter', 'flipped')`,
    [Bucket],
  )
  await ergon.sql(
    `update object_annotations set body = ${flipped.replaceAll('b,', 'body,')} where name = 'damaged-note'`,
  )
  for (const place of [object, shorter, flippedBit])
    await assert.rejects(s3.send(new GetObjectCommand(place)), BROKEN)
  await assert.rejects(s3.send(new GetObjectAnnotationCommand(note)), BROKEN)
  const CopySource = `${Bucket}/sealed`
  await assert.rejects(s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource })), BROKEN)
  const told = await ergon.sql<{ key: string; annotation: string | null }>(
    `delete from alarms where kind = 'body_damaged'
     returning detail ->> 'key' as key, detail ->> 'annotation' as annotation`,
  )
  assert.deepEqual(told, [
    { key: 'sealed', annotation: null },
    { key: 'shorter', annotation: null },
    { key: 'flipped', annotation: null },
    { key: 'shorter', annotation: 'damaged-note' },
  ])
  for (const place of [object, shorter, flippedBit]) await s3.send(new DeleteObjectCommand(place))
})
