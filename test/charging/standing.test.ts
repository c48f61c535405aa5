// The cost of stored bytes without requests, in a product whose minutes last a second: charges follow from bytes and
// time, once for each minute, also when the cell that makes them is killed.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  GetObjectCommand,
  PutBucketTaggingCommand,
  PutObjectAclCommand,
  PutObjectAnnotationCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3'
import type { ChargeRow } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { s3ClientOf } from '../s3-client.ts'
import { METERED, MILLIWATTS_PER_TB, MINUTE_S } from '../settings.ts'

product(METERED)

const MINUTE_MS = MINUTE_S * 1000
/** 3 J in a minute: each is worth a charge. */
const BYTES = 3_000_000
const WAIT_MS = 90_000
const KILLS = process.env['ERGON_LONG'] === '1' ? 10 : 2

type Standing = ChargeRow & { readonly from: string; readonly to: string }

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

async function standingOf(bucket: string): Promise<Standing[]> {
  const rows = await ergon.sql<{ bytes: Buffer }>(
    "select bytes from charges where operation = 'storage.standing' order by leaf_index",
  )
  return rows
    .map(({ bytes }) => JSON.parse(bytes.toString()) as Standing & { resource: string })
    .filter(({ resource }) => resource === `s3://${bucket}`)
}

async function untilCharges(bucket: string, least: number): Promise<Standing[]> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const charges = await standingOf(bucket)
    if (charges.length >= least) return charges
    assert.ok(performance.now() < deadline, `${charges.length} charges of ${bucket}`)
    await pause(100)
  }
}

/** Each says the energy of its bytes and time, and no two of them share a minute. */
function assertExact(charges: readonly Standing[], bytes: number): void {
  const minutes = new Set<number>()
  for (const { from, to, energy_nj, parts } of charges) {
    const ms = BigInt(Date.parse(to) - Date.parse(from))
    const energy = (BigInt(bytes) * BigInt(MILLIWATTS_PER_TB) * ms) / 1_000_000_000n
    assert.equal(energy_nj, String(energy))
    assert.deepEqual(
      parts.map((part) => [part.meter, part.energy_nj]),
      [
        ['node', '0'],
        ['storage', energy_nj],
      ],
    )
    minutes.add(Math.floor(Date.parse(to) / MINUTE_MS))
  }
  assert.equal(minutes.size, charges.length, 'a minute was charged twice')
  for (const [at, { from }] of charges.entries())
    assert.ok(at === 0 || from >= (charges[at - 1]?.to ?? ''), 'two charges overlap')
}

test('stored bytes are charged by the minute, once, also when the cell is killed', async () => {
  const s3 = s3ClientOf(ergon)
  const Bucket = 'standing'
  await s3.send(new CreateBucketCommand({ Bucket }))
  await s3.send(new CreateBucketCommand({ Bucket: 'standing-empty' }))
  const Metadata = { note: 'x'.repeat(1500) }
  await s3.send(new PutObjectCommand({ Bucket, Key: 'key', Metadata, Body: Buffer.alloc(BYTES) }))
  const [usage] = await ergon.sql<{ bytes: string }>(
    `select sum(u.bytes) as bytes from bucket_usage u join buckets b on b.id = u.bucket where b.name = $1`,
    [Bucket],
  )
  const stored = Number(usage?.bytes)
  assert.ok(
    stored > BYTES + 1500 && stored < BYTES + 2000,
    `${stored}: with what is written about it`,
  )
  let count = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const charges = await untilCharges(Bucket, count + 2)
    count = charges.length
    await ergon.killCell('tasks')
  }
  const charges = await untilCharges(Bucket, count + 2)
  assertExact(charges, stored)
  assert.deepEqual(await standingOf('standing-empty'), [])
  assert.equal(charges[0]?.account, ergon.account)

  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'key' }))
  const [row] = await ergon.sql<{ ms: string }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
  )
  const deletedMs = Number(row?.ms)
  const lookedAfter = async () =>
    (await ergon.sql('select from standing_samples where at_ms > $1 and bytes = 0', [deletedMs]))
      .length === 2
  const deadline = performance.now() + WAIT_MS
  while (!(await lookedAfter())) {
    assert.ok(performance.now() < deadline, 'nobody looked')
    await pause(100)
  }
  for (const { to } of await standingOf(Bucket)) assert.ok(Date.parse(to) <= deletedMs)
})

test('an account that cannot pay for a week of its bytes may read and delete, and not write', async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const add = (pusd: string) => ergon.control('funds.add', { account: id, pusd })
  // Some minutes of 3 W, and requests; a week would be $0.126.
  await add('30000000000')
  const asked = { scope: 'deploy', account: id } as const
  const s3 = s3ClientOf(ergon, (await ergon.control('token.create', asked)).token)
  const Bucket = 'standing-poor'
  await s3.send(new CreateBucketCommand({ Bucket }))
  const put = (Key: string) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(BYTES) }))
  await put('key')
  await untilCharges(Bucket, 1)
  await assert.rejects(put('more'), (error: Error & { $metadata?: { httpStatusCode: number } }) => {
    assert.equal(error.name, 'balance_depleted')
    assert.equal(error.$metadata?.httpStatusCode, 402)
    return true
  })
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'key' }))
  assert.equal((await Body?.transformToByteArray())?.length, BYTES)
  // A copy shares the bytes that are there, and is stored once more all the same.
  const copied = s3.send(
    new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/key` }),
  )
  await assert.rejects(copied, { name: 'balance_depleted' })
  const object = { Bucket, Key: 'key' }
  const Tagging = { TagSet: [{ Key: 'a', Value: 'b' }] }
  const isDepleted = { name: 'balance_depleted' }
  await assert.rejects(s3.send(new PutObjectTaggingCommand({ ...object, Tagging })), isDepleted)
  const annotation = { AnnotationName: 'a', AnnotationPayload: 'text' }
  await assert.rejects(
    s3.send(new PutObjectAnnotationCommand({ ...object, ...annotation })),
    isDepleted,
  )
  const acl = new PutObjectAclCommand({ ...object, ACL: 'private' })
  await assert.rejects(s3.send(acl), isDepleted)
  const Metadata = { note: 'x'.repeat(1500) }
  const upload = new CreateMultipartUploadCommand({ ...object, Metadata })
  await assert.rejects(s3.send(upload), isDepleted)
  await assert.rejects(s3.send(new PutBucketTaggingCommand({ Bucket, Tagging })), isDepleted)
  await s3.send(new DeleteObjectTaggingCommand(object))
  await add('200000000000')
  await put('more')
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'more' }))
})
