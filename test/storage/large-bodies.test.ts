// Bodies whose checksums are made on another thread: every size around its batches, every way in, many at
// once, wrong ones and broken ones. Checksums are compared with those of the AWS SDK and of node:crypto.
import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { ChargeRow } from '../books.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'large-bodies'
const MIB = 1_048_576
const BATCH = MIB / 4

const WAIT_MS = 120_000
const OPTIONS = { timeout: 2 * WAIT_MS }

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

const etagOf = (body: Buffer) => `"${hash('md5', body)}"`
const put = (Key: string, Body: Buffer | Readable, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))

async function md5Of(Key: string): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
  assert.ok(Body)
  return hash('md5', await Body.transformToByteArray())
}

async function isMissing(Key: string): Promise<void> {
  await assert.rejects(s3.send(new HeadObjectCommand({ Bucket, Key })), { name: 'NotFound' })
}

test('bodies of every size around a batch have the checksums that their client computes', async () => {
  // The last is of more batches than the thread ever has at once.
  const sizes = [MIB, MIB + 1, 5 * BATCH - 1, 5 * BATCH, 5 * BATCH + 1, 17 * BATCH]
  for (const size of sizes) {
    const body = randomBytes(size)
    const { ETag, ChecksumCRC64NVME } = await put('size', body, { ChecksumAlgorithm: 'CRC64NVME' })
    assert.equal(ETag, etagOf(body))
    assert.ok(ChecksumCRC64NVME)
    assert.equal(await md5Of('size'), hash('md5', body))
    // A stream goes in chunks, with its checksum behind it.
    const halves = [body.subarray(0, size / 2), body.subarray(size / 2)]
    const streamed = await put('streamed', Readable.from(halves), {
      ContentLength: size,
      ChecksumAlgorithm: 'SHA256',
    })
    assert.equal(streamed.ETag, etagOf(body))
    assert.equal(streamed.ChecksumSHA256, hash('sha256', body, 'base64'))
  }
})

test('a large body that is not what its client says is refused, and nothing is stored', async () => {
  const body = randomBytes(3 * MIB)
  const other = randomBytes(3 * MIB)
  const wrong: Partial<PutObjectCommandInput>[] = [
    { ContentMD5: hash('md5', other, 'base64') },
    { ChecksumSHA256: hash('sha256', other, 'base64') },
    { ChecksumCRC64NVME: 'AAAAAAAAAAA=' },
  ]
  for (const said of wrong) {
    await assert.rejects(put('wrong', body, said), { name: 'BadDigest' })
    await isMissing('wrong')
  }
})

test('large bodies that come at once have each their own checksums', async () => {
  const bodies = Array.from({ length: 12 }, (_, nth) => randomBytes(5 * BATCH + nth * 77_777))
  const stored = await Promise.all(bodies.map((body, nth) => put(`at-once-${nth}`, body)))
  assert.deepEqual(
    stored.map(({ ETag }) => ETag),
    bodies.map(etagOf),
  )
})

test('a large body in a form, whose length nobody says, has its checksums', async () => {
  const body = randomBytes(3 * MIB + 5)
  const form = await createPresignedPost(s3, { Bucket, Key: 'posted' })
  const data = new FormData()
  for (const [name, value] of Object.entries(form.fields)) data.append(name, value)
  data.append('file', new Blob([body]), 'name')
  const answer = await fetch(form.url, { method: 'POST', body: data })
  assert.equal(answer.status, 204)
  assert.equal(answer.headers.get('etag'), etagOf(body))
  assert.equal(await md5Of('posted'), hash('md5', body))
})

test('clients that go away in the middle of a large body leave nothing, and room for others', async () => {
  // Each may have four batches at once, all together sixteen.
  const address = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'broken' }))
  const { hostname, port, pathname, search } = new URL(address)
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(Number(port), hostname)
      const head = [`PUT ${pathname}${search} HTTP/1.1`, `Host: ${hostname}:${port}`]
      head.push(`Content-Length: ${8 * MIB}`, '', '')
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject)
        socket.write(head.join('\r\n'))
        socket.write(randomBytes(6 * BATCH), () => resolve())
      })
      socket.destroy()
    }),
  )
  const body = randomBytes(17 * BATCH)
  assert.equal((await put('after', body)).ETag, etagOf(body))
  await isMissing('broken')
})

/** The status of the one object that an account put, once its charge is in the ledger. */
async function putStatusOf(account: string): Promise<unknown> {
  for (const deadline = performance.now() + WAIT_MS; ; await pause(50)) {
    const [row] = await ergon.sql<{ bytes: Buffer }>(
      `select bytes from charges where account = $1
         and convert_from(bytes, 'UTF8')::jsonb ->> 'operation' = 'storage.put-object'`,
      [account],
    )
    if (row !== undefined) return (JSON.parse(row.bytes.toString()) as ChargeRow).status
    assert.ok(performance.now() < deadline, 'there is no charge')
  }
}

test('a body in HTTP chunks of one byte ends at four times its ceiling', OPTIONS, async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const rights = { scope: 'deploy', account: id } as const
  const { token } = await ergon.control('token.create', rights)
  const bucket = 'large-bodies-crumbs'
  const authorization = `Bearer ${token}`
  await fetch(`${ergon.baseUrl}/${bucket}`, { method: 'PUT', headers: { authorization } })
  const framed = `100000\r\n${'a'.repeat(MIB)}\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`
  const crumbs = framed.replaceAll(/[^]/g, '1\r\n$&\r\n')
  const { port, hostname } = new URL(ergon.baseUrl)
  const socket = connect(Number(port), hostname)
  // It is ended in the middle of what it sends.
  socket.on('error', () => undefined).resume()
  socket.write(
    `PUT /${bucket}/crumbs HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${authorization}\r\n` +
      'Transfer-Encoding: chunked\r\nx-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n' +
      `x-amz-decoded-content-length: ${MIB}\r\nx-amz-trailer: x-amz-checksum-crc32\r\n\r\n`,
  )
  socket.write(`${crumbs}0\r\n\r\n`)
  assert.equal(await putStatusOf(id), 402)
  socket.destroy()
})
