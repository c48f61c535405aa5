// Requests for the API at an address of S3: the error names the right address. Requests that S3 can serve go to S3,
// also for buckets with the names of the API's paths.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsCommand,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import OpenAI from 'openai'
import { problem } from '#contract/service-replies.ts'
import { browserFetch, ORIGIN } from '../browser-fetch.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

let ergon: Ergon
let s3: S3Client
withClient((client) => ({ ergon, s3 } = client))

const post = { method: 'POST', body: '{"model":"auto"}' }
const bearer = () => ({ authorization: `Bearer ${ergon.token}` })
const ask = (path: string, init: RequestInit = {}) => fetch(`${ergon.baseUrl}${path}`, init)

/** The answer is the API's 404 and names the base address. */
async function assertHint(answer: Response, path: string): Promise<void> {
  const { error, detail } = problem.parse(await answer.json())
  assert.deepEqual([answer.status, error.code], [404, 'not_found'], path)
  assert.ok(detail.includes(`the base address of the API is ${ergon.baseUrl}/v1`), detail)
}

test('a base address without /v1, with another, or with two, is answered with the right address', async () => {
  const json = { 'content-type': 'application/json; charset=utf-8' }
  for (const base of ['', '/v2', '/v1/v1', '/openai/v1', '/api', '/api/v1']) {
    for (const path of ['/chat/completions', '/completions', '/embeddings']) {
      const asked = { ...post, headers: { ...json, ...bearer() } }
      await assertHint(await ask(base + path, asked), base + path)
      await assertHint(await ask(base + path, { ...post, headers: json }), base + path)
    }
    await assertHint(await ask(`${base}/models`, { headers: bearer() }), `${base}/models`)
    await assertHint(await ask(`${base}/models/auto`, { headers: bearer() }), base)
  }
  const client = new OpenAI({ baseURL: ergon.baseUrl, apiKey: ergon.token, maxRetries: 0 })
  await assert.rejects(
    client.chat.completions.create({ model: 'auto', messages: [{ role: 'user', content: 'Hi' }] }),
    (error: Error) => error.message.includes(`${ergon.baseUrl}/v1`),
  )
})

test('a page of another origin can read the right address, where there is no such bucket', async () => {
  for (const base of ['', '/v2', '/openai/v1', '/api/v1']) {
    const client = new OpenAI({
      baseURL: ergon.baseUrl + base,
      apiKey: ergon.token,
      fetch: browserFetch,
      dangerouslyAllowBrowser: true,
      maxRetries: 0,
    })
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    for (const wrong of [
      () => client.chat.completions.create({ model: 'auto', messages }),
      () => client.models.list(),
    ])
      await assert.rejects(
        wrong,
        ({ status, message }: { status?: number; message: string }) =>
          status === 404 && message.includes(`${ergon.baseUrl}/v1`),
        base,
      )
  }
  const other = await preflight('/none-such-bucket/photo.jpg')
  assert.equal(other.headers.get('access-control-allow-origin'), null)
  const signed = { 'access-control-request-headers': 'authorization,x-amz-date' }
  const ofS3 = await preflight('/models/photo.jpg', signed)
  assert.deepEqual([ofS3.status, ofS3.headers.get('access-control-allow-origin')], [404, null])
})

test('a bucket that is called as a path of the API keeps its own CORS rules', async () => {
  const Bucket = 'embeddings-and-v1'
  const path = `/${Bucket}/v1/chat/completions`
  assert.equal((await preflight(path)).headers.get('access-control-allow-origin'), '*')
  await s3.send(new CreateBucketCommand({ Bucket }))
  assert.equal((await preflight(path)).status, 403)
  const AllowedOrigins = ['https://own.example']
  const CORSRules = [{ AllowedMethods: ['POST'], AllowedOrigins, AllowedHeaders: ['*'] }]
  await s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }))
  assert.equal((await preflight(path)).status, 403)
  const own = await preflight(path, { origin: 'https://own.example' })
  assert.equal(own.headers.get('access-control-allow-origin'), 'https://own.example')
})

const preflight = (path: string, headers: Record<string, string> = {}) =>
  ask(path, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-method': 'POST', ...headers },
  })

test('S3 serves buckets that are called as paths of the API', async () => {
  for (const Bucket of ['chat', 'models', 'embeddings', 'api', 'openai']) {
    await s3.send(new CreateBucketCommand({ Bucket }))
    const Key = 'completions'
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'an object' }))
    const PublicAccessBlockConfiguration = {
      BlockPublicPolicy: false,
      RestrictPublicBuckets: false,
    }
    await s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }))
    const Action = ['s3:GetObject', 's3:ListBucket']
    const Resource = [`arn:aws:s3:::${Bucket}/*`, `arn:aws:s3:::${Bucket}`]
    const Statement = [{ Effect: 'Allow', Principal: '*', Action, Resource }]
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
    const html = { accept: 'text/html' }
    for (const headers of [
      {},
      html,
      bearer(),
      { ...bearer(), 'content-type': 'application/json' },
    ]) {
      assert.equal(await (await ask(`/${Bucket}/${Key}`, { headers })).text(), 'an object')
      assert.match(await (await ask(`/${Bucket}`, { headers })).text(), /<ListBucketResult/)
    }
    const signed = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }))
    assert.equal(await (await fetch(signed)).text(), 'an object')
    assert.equal((await s3.send(new ListObjectsCommand({ Bucket }))).Contents?.length, 1)
    const form = await createPresignedPost(s3, { Bucket, Key: 'form' })
    const data = new FormData()
    for (const [name, value] of Object.entries(form.fields)) data.append(name, value)
    data.append('file', new Blob(['{}']), 'name.json')
    assert.equal((await fetch(form.url, { method: 'POST', body: data })).status, 204)
    const Delete = { Objects: [{ Key: 'form' }] }
    const deleted = await s3.send(new DeleteObjectsCommand({ Bucket, Delete }))
    assert.deepEqual(deleted.Deleted, [{ Key: 'form' }])
    // S3 answers for an absent key of an existing bucket.
    const none = await ask(`/${Bucket}/none`, { headers: bearer() })
    assert.match(await none.text(), /<Code>NoSuchKey</)
  }
})

test('S3 refuses its own clients in its own form', async () => {
  const anonymous = await ask('/none-such-bucket/models')
  assert.match(await anonymous.text(), /<Code>(NoSuchBucket|AccessDenied)</)
  const other = await ask('/none-such-bucket/photo.jpg', { headers: bearer() })
  assert.match(await other.text(), /<Code>NoSuchBucket</)
  const signed = {
    authorization: 'AWS4-HMAC-SHA256 Credential=x',
    'content-type': 'application/json',
  }
  for (const path of ['/chat-none/completions', '/v2/completions'])
    assert.match(await (await ask(path, { ...post, headers: signed })).text(), /<Code>/)
  const presigned = await ask('/v2/completions?X-Amz-Algorithm=AWS4-HMAC-SHA256', {
    ...post,
    headers: { 'content-type': 'application/json' },
  })
  assert.match(await presigned.text(), /<Code>/)
})

test('a browser at the root gets a page, a program S3’s refusal', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }
  const page = await ask('/', { headers })
  assert.deepEqual(
    [page.status, page.headers.get('content-type')],
    [200, 'text/html; charset=utf-8'],
  )
  assert.match(page.headers.get('x-receipt-id') ?? '', /^rcpt_/)
  const text = await page.text()
  assert.ok(text.includes(`<code>${ergon.baseUrl}/v1</code>`), text)
  const program = await ask('/')
  assert.match(await program.text(), /<ListAllMyBucketsResult/)
  const known = await ask('/', { headers: { ...headers, ...bearer() } })
  assert.match(await known.text(), /<ListAllMyBucketsResult/)
  const bucket = `chat.localhost:${ergon.port}`
  assert.match(await textOf(bucket, '/', headers), /<(Error|ListBucketResult)/)
})

test('a name of the machine that was not declared is 421, which says how to declare it', async () => {
  const answer = await answerOf('box.lan:8080', '/v1/models', {})
  assert.equal(answer.statusCode, 421)
  const { error, detail } = problem.parse(await json(answer))
  assert.equal(error.code, 'host_unknown')
  assert.match(detail, /"box\.lan".*ERGON_BASE_URL/)
  // The SDKs show no other part of the answer.
  assert.equal(error.message, detail)
})

async function answerOf(host: string, path: string, headers: object): Promise<IncomingMessage> {
  const asked = request({
    host: '127.0.0.1',
    port: ergon.port,
    path,
    headers: { ...headers, host },
  })
  asked.end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}

async function textOf(...asked: Parameters<typeof answerOf>): Promise<string> {
  let text = ''
  for await (const piece of await answerOf(...asked)) text += String(piece)
  return text
}
