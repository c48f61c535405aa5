// A page of PostgreSQL that changed on the disk: the objects in it are damaged, as those in a changed file are.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { s3ClientOf } from '../s3-client.ts'
import { IS_EXTERNAL, startErgon, type Ergon } from '../start-ergon.ts'

const Bucket = 'damaged-page'
/** So large that the body lies in pages of its own. */
const BODY_BYTES = 16 * 1024

async function fileOfBodies(ergon: Ergon): Promise<string> {
  const [row] = await ergon.sql<{ folder: string; file: string }>(
    `select current_setting('data_directory') as folder, pg_relation_filepath(reltoastrelid) as file
     from pg_class where oid = 'object_versions'::regclass`,
  )
  assert.ok(row)
  return join(row.folder, row.file)
}

test(
  'a small body in a page that changed on the disk is damaged, and the operator knows',
  { skip: IS_EXTERNAL },
  async () => {
    await using ergon = await startErgon()
    const s3 = s3ClientOf(ergon)
    await s3.send(new CreateBucketCommand({ Bucket }))
    const Body = randomBytes(BODY_BYTES)
    for (const Key of ['changed', 'other'])
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key === 'other' ? 'x' : Body }))
    const read = async (Key: string) =>
      await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray()
    // A first read writes to the page that its rows are committed.
    await read('changed')
    await ergon.sql('checkpoint')
    const file = await fileOfBodies(ergon)
    const bytes = readFileSync(file)
    const at = bytes.indexOf(Body.subarray(0, 64))
    assert.ok(at > 0)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at)
    writeFileSync(file, bytes)
    await ergon.restart()
    const refused = {
      name: 'InternalError',
      message:
        /^A page of the storage of this object cannot be read.*An alarm has told the operator/,
    }
    const Key = 'changed'
    await assert.rejects(read(Key), refused)
    await assert.rejects(s3.send(new PutObjectCommand({ Bucket, Key, Body: 'y' })), refused)
    await assert.rejects(s3.send(new DeleteObjectCommand({ Bucket, Key })), refused)
    const Objects = [{ Key }, { Key: 'none' }]
    const { Deleted, Errors } = await s3.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
    )
    assert.deepEqual(
      [Deleted?.map((one) => one.Key), Errors?.map((one) => [one.Key, one.Code])],
      [['none'], [[Key, 'InternalError']]],
    )
    assert.match(Errors?.[0]?.Message ?? '', refused.message)
    assert.deepEqual(await read('other'), new Uint8Array(Buffer.from('x')))
    const alarms = await ergon.sql<{ detail: Readonly<Record<string, string>> }>(
      "select detail from alarms where kind = 'page_damaged' and detail ->> 'task' = 'request'",
    )
    const [told] = alarms.map(({ detail }) => detail)
    assert.deepEqual([told?.['bucket'], told?.['key']], [Bucket, Key])
    assert.match(told?.['found'] ?? '', /^invalid page/)
    s3.destroy()
  },
)
