// Strangers at the expense of others: the payer of a copy between two accounts, and the number of strangers that an
// account can be host of.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { bookFaults, chargeOf } from '../books.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { ACCOUNT_REQUESTS, STORAGE } from '../settings.ts'
import { product } from '../product.ts'

product(STORAGE)

const Key = 'source'
const WAIT_MS = 60_000
const OPTIONS = { timeout: 2 * WAIT_MS }
/** Half of what an account may run, some more than may wait, and requests of the owner. */
const STRANGERS_MAX = ACCOUNT_REQUESTS / 2
const OVER = 16

let ergon: Ergon

withClient((opened) => ({ ergon } = opened))

type Owner = { readonly account: string; readonly bucket: string; readonly s3: S3Client }

/** An account with a bucket in which strangers may read and write; `pusd` is what it has of money. */
async function openOwner(bucket: string, pusd?: string): Promise<Owner> {
  const { id } = await ergon.control('account.create', { env: 'test' })
  if (pusd !== undefined) await ergon.control('funds.add', { account: id, pusd })
  const { token } = await ergon.control('token.create', {
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

/** A PUT by nobody whose body does not come, on a connection of its own; what is answered to it. */
async function silent(bucket: string, nth: number) {
  const { port, hostname } = new URL(ergon.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = `PUT /${bucket}/held-${nth} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 9\r\n\r\n`
  socket.write(`${head}x`)
  return { socket, answer: once(socket, 'data').then(([bytes]) => String(bytes)) }
}

test('strangers are bounded, and take nothing of what their host may run', OPTIONS, async () => {
  // With money: a free tier that is used up is refused in the same words.
  const owner = await openOwner('storage-payers-host', '1000000000000')
  const other = await openOwner('storage-payers-other')
  const held = await Promise.all(
    Array.from({ length: STRANGERS_MAX + OVER }, (_, nth) => silent(owner.bucket, nth)),
  )
  // As many as are one too many are answered; the others wait for their bodies.
  const refusals = held.map(async ({ answer }) => {
    assert.match(await answer, /^HTTP\/1.1 503 [^]*\r\nretry-after: 1\r\n[^]*<Code>SlowDown</i)
  })
  await Promise.any(refusals)
  const visit = async ({ bucket }: Owner) => {
    const answer = await fetch(`${ergon.baseUrl}/${bucket}/${Key}`)
    await answer.arrayBuffer()
    return answer.status
  }
  assert.equal(await visit(owner), 503)
  assert.equal(await visit(other), 200)
  const own = await Promise.all(
    Array.from({ length: STRANGERS_MAX }, () =>
      owner.s3.send(new HeadObjectCommand({ Bucket: owner.bucket, Key })),
    ),
  )
  assert.equal(own.length, STRANGERS_MAX)
  for (const { socket } of held) socket.destroy()
  for (const deadline = performance.now() + WAIT_MS; (await visit(owner)) !== 200; await pause(50))
    assert.ok(performance.now() < deadline, 'strangers that are gone still count')
  for (const { s3 } of [owner, other]) s3.destroy()
})

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

/** Keeps all that the account has, and nobody leased, for what it stores. */
const keepAll = (account: string) =>
  ergon.sql(
    `select fit_reserves('retention', want_reserves('retention', 'test', array['${account}'], array[1e15]::numeric[]))`,
  )

test(
  'an account that cannot pay lists and removes what it stores, and reads and stores nothing',
  OPTIONS,
  async () => {
    const { account, bucket } = await openOwner('storage-payers-depleted', '150000')
    const { token } = await ergon.control('token.create', { scope: 'deploy', account })
    const ask = async (method: string, path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${ergon.baseUrl}/${bucket}${path}`, {
        ...init,
        method,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(10_000),
      })
      await answer.arrayBuffer()
      return answer.status
    }
    const lastMs = Date.now() + WAIT_MS
    do {
      assert.ok(Date.now() < lastMs, 'the account can still pay')
      await keepAll(account)
    } while ((await ask('GET', `/${Key}`)) !== 402)
    assert.equal(await ask('PUT', '/more', { body: 'x' }), 402)
    assert.equal(await ask('GET', '?list-type=2'), 200)
    assert.equal(await ask('HEAD', `/${Key}`), 200)
    const body = '<Delete><Object><Key>none</Key></Object></Delete>'
    assert.equal(await ask('POST', '?delete', { body }), 200)
    assert.equal(await ask('DELETE', `/${Key}`), 204)
    assert.equal(await ask('DELETE', ''), 204)
    assert.equal(await ask('GET', `/${Key}`), 402)
    assert.deepEqual(await bookFaults(ergon), [])
  },
)
