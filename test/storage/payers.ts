// Who pays for what strangers do in two accounts at once: a copy is paid by whom it is made for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { bookFaults, chargeOf } from '../books.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'

const Key = 'source'
const OPTIONS = { timeout: 120_000 }

let ergon: Ergon

withClient((opened) => ({ ergon } = opened))

type Owner = { readonly account: string; readonly bucket: string; readonly s3: S3Client }

/** An account with a bucket in which strangers may read and write; `pusd` is what it has of money. */
async function openOwner(bucket: string, pusd?: string): Promise<Owner> {
  const { id } = await ergon.control<{ id: string }>('POST', '/accounts', { env: 'test' })
  if (pusd !== undefined) await ergon.control('POST', `/accounts/${id}/funds`, { pusd })
  const { token } = await ergon.control<{ token: string }>('POST', '/tokens', {
    scope: 'deploy',
    account: id,
  })
  const s3 = s3ClientOf(ergon, token)
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  const PublicAccessBlockConfiguration = { BlockPublicPolicy: false, RestrictPublicBuckets: false }
  await s3.send(new PutPublicAccessBlockCommand({ Bucket: bucket, PublicAccessBlockConfiguration }))
  const Resource = `arn:aws:s3:::${bucket}/*`
  const Action = ['s3:GetObject', 's3:PutObject']
  const Statement = [{ Effect: 'Allow', Principal: '*', Action, Resource }]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await s3.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }))
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x'.repeat(300_000) }))
  return { account: id, bucket, s3 }
}

/** A copy by nobody, to a place of `to`. */
async function copy(from: Owner, to: Owner, place: string) {
  const answer = await fetch(`${ergon.baseUrl}/${to.bucket}/${place}`, {
    method: 'PUT',
    headers: { 'x-amz-copy-source': `/${from.bucket}/${Key}` },
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return await chargeOf(ergon, String(answer.headers.get('x-receipt-id')))
}

test(
  'a copy by nobody between two accounts is charged to the one that gets it',
  OPTIONS,
  async () => {
    const funded = await openOwner('storage-payers-funded', '1000000000000')
    const free = await openOwner('storage-payers-free')
    for (const [from, to] of [
      [funded, free],
      [free, funded],
    ] as const) {
      const { UploadId } = await to.s3.send(
        new CreateMultipartUploadCommand({ Bucket: to.bucket, Key: 'parts' }),
      )
      const charges = [
        await copy(from, to, 'copied'),
        await copy(from, to, `parts?partNumber=1&uploadId=${UploadId}`),
      ]
      for (const charge of charges) {
        assert.equal(charge.account, to.account)
        assert.equal(charge.free, to === free)
        assert.equal(charge.charge_pusd !== '0', to === funded)
      }
      const got = await to.s3.send(new GetObjectCommand({ Bucket: to.bucket, Key: 'copied' }))
      assert.equal((await got.Body?.transformToString())?.length, 300_000)
    }
    // The money and the free energy that are gone are what the charges of each account say.
    assert.deepEqual(await bookFaults(ergon), [])
    assert.deepEqual(await freeFaults([funded, free]), [])
    for (const owner of [funded, free]) owner.s3.destroy()
  },
)

/** Accounts of whose free energy another amount is gone than their free charges took. */
async function freeFaults(owners: readonly Owner[]) {
  return await ergon.sql(
    `select a.id, taken, billed from accounts a,
       lateral (select coalesce(sum(t.amount - w.posted), 0) as taken
         from wallets w join transfers t on t.credit = w.id where w.id like 'free:' || a.id || ':%') f,
       lateral (select coalesce(sum(energy_nj), 0) as billed from charges where account = a.id
         and (convert_from(bytes, 'UTF8')::jsonb ->> 'free')::boolean) c
     where a.id = any ($1) and taken is distinct from billed`,
    [owners.map(({ account }) => account)],
  )
}
