// Rotation of named keys: by the operator's command, on objects that were there before and after.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'

const Bucket = 'keys-part'
const NAME = 'invoices'
// A round waits until all gateways have heard of the rotation.
const TRIES = 600

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

const put = (Key: string, Body: Buffer) =>
  s3.send(
    new PutObjectCommand({
      Bucket,
      Key,
      Body,
      ServerSideEncryption: 'aws:kms',
      SSEKMSKeyId: NAME,
    }),
  )

async function bytesOf(Key: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}

type Key = { name: string; version: number; wrapped_by: number; rotated_at: string | null }

async function keyOf(name: string): Promise<Key | undefined> {
  const { code, stdout, stderr } = await ergon.cli('storage', 'keys', 'list', '--json')
  assert.equal(code, 0, stderr)
  return (JSON.parse(stdout) as Key[]).find((key) => key.name === name)
}

/** The versions in the envelopes of an object. */
async function versionsOf(key: string): Promise<unknown[]> {
  const [row] = await ergon.sql<{ versions: unknown[] }>(
    `select jsonb_path_query_array(jsonb_build_array(v.encryption, v.parts), '$.**.keyVersion') as versions
     from object_versions v join buckets b on b.id = v.bucket where b.name = $1 and v.key = $2`,
    [Bucket, key],
  )
  return [...new Set(row?.versions)]
}

test('a key is rotated by command, and objects of before and after are read', async () => {
  const small = randomBytes(100)
  const large = randomBytes(200_000)
  await put('small', small)
  await put('large', large)
  assert.deepEqual(await keyOf(NAME), {
    name: NAME,
    version: 1,
    wrapped_by: 1,
    rotated_at: null,
  })
  const rotated = await ergon.cli('storage', 'keys', 'rotate', NAME, '--json')
  assert.equal(rotated.code, 0, rotated.stderr)
  assert.deepEqual(JSON.parse(rotated.stdout), { name: NAME, version: 2 })
  assert.ok((await bytesOf('large')).equals(large))
  for (let tries = TRIES; ; tries--) {
    const [row] = await ergon.sql('select wrapped from storage_keys where name = $1', [NAME])
    if (Number(row?.['wrapped']) === 2) break
    assert.ok(tries > 0, 'the objects were not wrapped again')
    await pause(100)
  }
  for (const key of ['small', 'large']) assert.deepEqual(await versionsOf(key), [2], key)
  assert.ok((await bytesOf('small')).equals(small))
  assert.ok((await bytesOf('large')).equals(large))
  await put('new', small)
  assert.deepEqual(await versionsOf('new'), [2])
  assert.ok((await bytesOf('new')).equals(small))
  assert.equal((await keyOf(NAME))?.wrapped_by, 2)
  assert.equal((await keyOf('customers'))?.version, 1)
})

test('a key that there is not is not rotated', async () => {
  const { code, stderr } = await ergon.cli('storage', 'keys', 'rotate', 'nobody')
  assert.notEqual(code, 0)
  assert.match(stderr, /"nobody" is not in ERGON_STORAGE_KMS_KEYS/)
})
