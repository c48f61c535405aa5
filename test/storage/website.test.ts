// Buckets as websites: what a visitor gets at `<bucket>.website.localhost`, and who pays for it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteBucketCorsCommand,
  DeleteBucketWebsiteCommand,
  GetBucketWebsiteCommand,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  type S3Client,
  type S3ServiceException,
  type PutObjectCommandInput,
  type RoutingRule,
  type WebsiteConfiguration,
} from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'website-part'
const PAGE = '<script>document.title = 1</script>'

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })
before(async () => {
  for (const key of ['index.html', 'folder/index.html', 'a b.html']) await put(key, PAGE)
  await put('error.html', 'the page for errors')
  await put('private', 'nobody but us')
})

const put = (Key: string, Body: string, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/html', ...more }))

const configure = (WebsiteConfiguration: WebsiteConfiguration) =>
  s3.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }))
const serve = (...RoutingRules: RoutingRule[]) =>
  configure({
    IndexDocument: { Suffix: 'index.html' },
    ErrorDocument: { Key: 'error.html' },
    RoutingRules,
  })

/** Everybody may read everything but `private`; with `listing`, also see what is there. */
async function open({ listing }: { listing: boolean }): Promise<void> {
  const arn = `arn:aws:s3:::${Bucket}`
  const everybody = { Effect: 'Allow', Principal: '*' }
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { ...everybody, Action: 's3:GetObject', NotResource: `${arn}/private` },
      ...(listing ? [{ ...everybody, Action: 's3:ListBucket', Resource: arn }] : []),
    ],
  })
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
}

type Page = {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Asks as a browser would; resolvers rarely know names below localhost, so the name is in the head only. */
async function visit(
  path: string,
  {
    bucket = Bucket,
    method = 'GET',
    headers = {},
  }: { bucket?: string; method?: string; headers?: Record<string, string> } = {},
): Promise<Page> {
  const host = hostOf(bucket)
  const asked = request({
    host: '127.0.0.1',
    port: ergon.port,
    path,
    method,
    headers: { ...headers, host },
  })
  asked.end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: await textOf(answer) }
}

const hostOf = (bucket: string) => `${bucket}.website.localhost:${ergon.port}`
const locationOf = ({ status, headers }: Page) => [status, headers.location]

test('a bucket without the configuration is no website, and what is put comes back', async () => {
  const none = await visit('/')
  assert.equal(none.status, 404)
  assert.match(none.body, /<li>Code: NoSuchWebsiteConfiguration<\/li>/)
  const asked = {
    IndexDocument: { Suffix: 'index.html' },
    ErrorDocument: { Key: 'error.html' },
    RoutingRules: [
      { Condition: { KeyPrefixEquals: 'old/' }, Redirect: { ReplaceKeyPrefixWith: 'new/' } },
    ],
  }
  await configure(asked)
  const { $metadata: _, ...found } = await s3.send(new GetBucketWebsiteCommand({ Bucket }))
  assert.deepEqual(found, asked)
  await assert.rejects(configure({}), { name: 'InvalidArgument' })
  await s3.send(new DeleteBucketWebsiteCommand({ Bucket }))
  await assert.rejects(s3.send(new GetBucketWebsiteCommand({ Bucket })), {
    name: 'NoSuchWebsiteConfiguration',
  })
})

test('a document of a bucket is as large as at AWS at most', async () => {
  const large = (bytes: number) => 'x'.repeat(bytes)
  const refused = { name: 'EntityTooLarge', $metadata: { httpStatusCode: 400 } }
  const isRefused = ({ name, $metadata: { httpStatusCode } }: S3ServiceException) => {
    assert.deepEqual({ name, $metadata: { httpStatusCode } }, refused)
    return true
  }
  const website = (length: number) =>
    configure({ IndexDocument: { Suffix: 'i' }, ErrorDocument: { Key: large(length) } })
  await assert.rejects(website(128 * 1024), isRefused)
  const cors = (length: number) =>
    s3.send(
      new PutBucketCorsCommand({
        Bucket,
        CORSConfiguration: {
          CORSRules: [{ AllowedMethods: ['GET'], AllowedOrigins: [large(length)] }],
        },
      }),
    )
  await assert.rejects(cors(64 * 1024), isRefused)
  await cors(63 * 1024)
  await s3.send(new DeleteBucketCorsCommand({ Bucket }))
  await assert.rejects(s3.send(new GetBucketWebsiteCommand({ Bucket })), {
    name: 'NoSuchWebsiteConfiguration',
  })
})

test('every other document has a limit too', async () => {
  const KIB = 1024
  const documents = 'documents-part'
  await s3.send(new CreateBucketCommand({ Bucket: documents, ObjectLockEnabledForBucket: true }))
  await s3.send(new PutObjectCommand({ Bucket: documents, Key: 'k', Body: 'x' }))
  const send = (path: string, method: string, body: string) =>
    fetch(`${ergon.baseUrl}/${documents}${path}`, {
      method,
      headers: { authorization: `Bearer ${ergon.token}` },
      body,
    })
  const codeOf = async (answer: Response) =>
    [answer.status, /<Code>(.*)<\/Code>/.exec(await answer.text())?.[1]].join(' ')
  // A body refused for its length is not even parsed as XML.
  const padded = (kib: number) => `<x>${' '.repeat(kib * KIB)}</x>`
  const small =
    'acl accelerate encryption logging notification object-lock ownershipControls policy'
  const places = [...small.split(' '), 'publicAccessBlock', 'requestPayment', 'tagging']
  const paths = places.map((name) => `?${name}`)
  for (const path of [
    ...paths,
    '?versioning',
    '/k?acl',
    '/k?tagging',
    '/k?retention',
    '/k?legal-hold',
  ]) {
    assert.equal(await codeOf(await send(path, 'PUT', padded(512))), '400 EntityTooLarge', path)
    assert.match(await codeOf(await send(path, 'PUT', padded(100))), /^400 Malformed/, path)
  }
  const large = [
    ['?lifecycle', 'PUT'],
    ['?delete', 'POST'],
    ['/k?uploadId=u', 'POST'],
  ] as const
  for (const [path, method] of large)
    assert.equal(await codeOf(await send(path, method, padded(2048))), '400 EntityTooLarge', path)

  const rules = (count: number) =>
    `<LifecycleConfiguration>${Array.from(
      { length: count },
      (_, nth) =>
        `<Rule><ID>${'i'.repeat(200)}${nth}</ID><Status>Enabled</Status><Filter><Prefix>${'p'.repeat(1000)}` +
        `${nth}</Prefix></Filter><Expiration><Days>1</Days></Expiration></Rule>`,
    ).join('')}</LifecycleConfiguration>`
  assert.equal(await codeOf(await send('?lifecycle', 'PUT', rules(1001))), '400 MalformedXML')
  assert.equal((await send('?lifecycle', 'PUT', rules(1000))).status, 200)
  assert.equal((await send('?lifecycle', 'DELETE', '')).status, 204)
})

test('pages and indexes are served to everybody the policy lets in, at the expense of the owner', async () => {
  await serve()
  const closed = await visit('/')
  assert.equal(closed.status, 403, 'a website opens nothing by itself')
  assert.match(closed.body, /<h1>403 Forbidden<\/h1>/)
  await open({ listing: true })
  for (const path of ['/', '/folder/', '/a%20b.html?v=2&response-content-type=x']) {
    const page = await visit(path)
    assert.deepEqual([page.status, page.body], [200, PAGE], path)
    assert.equal(page.headers['content-type'], 'text/html')
    assert.equal(page.headers['content-security-policy'], undefined)
    await chargedToOwner(page, 'storage.get-website-page')
  }
  const head = await visit('/', { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers['content-length']], [200, String(PAGE.length)])
  await chargedToOwner(head, 'storage.head-website-page')
  const { etag = '' } = head.headers
  assert.equal((await visit('/', { headers: { 'if-none-match': etag } })).status, 304)
  assert.equal((await visit('/', { headers: { range: 'bytes=0-7' } })).body, '<script>')
  // At the address of the API the same bytes stay what a stranger stored.
  const raw = await fetch(`${ergon.baseUrl}/${Bucket}/index.html`)
  assert.equal(raw.headers.get('content-security-policy'), 'sandbox')
  await raw.body?.cancel()
})

test('a credential opens nothing of a website, and only reading is served', async () => {
  const headers = { authorization: `Bearer ${ergon.token}` }
  assert.equal((await visit('/private', { headers })).status, 403)
  for (const method of ['PUT', 'POST', 'DELETE']) {
    const refused = await visit('/index.html', { method, headers })
    assert.equal(refused.status, 405, method)
    assert.match(refused.body, /<li>Code: MethodNotAllowed<\/li>/)
  }
})

test('errors are pages with the code, or the page of the bucket with their status', async () => {
  const missing = await visit('/nowhere', { headers: { range: 'bytes=0-1', 'if-match': '"x"' } })
  assert.deepEqual([missing.status, missing.body], [404, 'the page for errors'])
  assert.equal(missing.headers['x-amz-error-code'], 'NoSuchKey')
  assert.equal(missing.headers['content-security-policy'], undefined)
  assert.equal((await visit('/private')).status, 403)
  assert.equal((await visit('/private')).body, 'the page for errors')
  await configure({ IndexDocument: { Suffix: 'index.html' }, ErrorDocument: { Key: 'private' } })
  const plain = await visit('/%3Cscript%3E')
  assert.equal(plain.status, 404)
  assert.match(plain.headers['content-type'] ?? '', /^text\/html/)
  assert.match(plain.body, /<li>Code: NoSuchKey<\/li>/)
  assert.ok(!plain.body.includes('<script>'), plain.body)
  assert.equal((await visit('/x', { method: 'HEAD' })).body, '')
  const nothing = await visit('/', { bucket: 'website-part-nowhere' })
  assert.match(nothing.body, /<li>Code: NoSuchBucket<\/li>/)
})

test('a folder without its slash is found, and stays at its host', async () => {
  await serve()
  const found = await visit('/folder?x=1')
  assert.deepEqual(locationOf(found), [302, `http://${hostOf(Bucket)}/folder/`])
  await chargedToOwner(found, 'storage.get-website-page')
  await open({ listing: false })
  assert.equal((await visit('/folder')).status, 302)
  assert.equal((await visit('/nowhere')).status, 403, 'who may not list is not told what is there')
  await open({ listing: true })
  await put('/evil.example/index.html', PAGE)
  const { headers } = await visit('//evil.example')
  assert.equal(new URL(headers.location ?? '').host, hostOf(Bucket))
})

test('rules, objects and whole buckets redirect', async () => {
  await serve(
    { Condition: { KeyPrefixEquals: 'old/' }, Redirect: { ReplaceKeyPrefixWith: 'new/' } },
    {
      Condition: { HttpErrorCodeReturnedEquals: '404', KeyPrefixEquals: 'shop/' },
      Redirect: { HostName: 'shop.example', Protocol: 'https', HttpRedirectCode: '307' },
    },
  )
  assert.deepEqual(locationOf(await visit('/old/a%0d%0ab')), [
    301,
    `http://${hostOf(Bucket)}/new/a%0D%0Ab`,
  ])
  assert.deepEqual(locationOf(await visit('/shop/x')), [307, 'https://shop.example/shop/x'])
  await put('shop/x', PAGE)
  assert.equal((await visit('/shop/x')).body, PAGE)
  await put('moved', '', { WebsiteRedirectLocation: '/folder/' })
  assert.deepEqual(locationOf(await visit('/moved')), [301, '/folder/'])
  const asObject = await fetch(`${ergon.baseUrl}/${Bucket}/moved`)
  assert.equal(asObject.headers.get('x-amz-website-redirect-location'), '/folder/')
  await asObject.body?.cancel()
  await assert.rejects(put('x', '', { WebsiteRedirectLocation: 'javascript:x' }), {
    name: 'InvalidRedirectLocation',
  })
  await configure({ RedirectAllRequestsTo: { HostName: 'elsewhere.example', Protocol: 'https' } })
  assert.deepEqual(locationOf(await visit('/a/b')), [301, 'https://elsewhere.example/a/b'])
})

test('the pages of the service do not hide those of a website', async () => {
  await serve()
  await put('healthz', 'my own page')
  await put('v1/models', 'another page')
  assert.equal((await visit('/healthz')).body, 'my own page')
  assert.equal((await visit('/v1/models')).body, 'another page')
})

/** The ledger charged the bucket's owner for it. */
async function chargedToOwner({ headers }: Page, operation: string): Promise<void> {
  const receipt = headers['x-receipt-id']
  for (let tries = 300; tries > 0; tries--) {
    const [row] = await ergon.sql('select account, operation from charges where id = $1', [receipt])
    if (row !== undefined)
      return assert.deepEqual([row['account'], row['operation']], [ergon.account, operation])
    await pause(100)
  }
  assert.fail(`no charge of ${String(receipt)}`)
}

test('a page comes in ranges to who has the same one', async () => {
  await serve()
  await open({ listing: false })
  const part = async (validator: string) => {
    const headers = { range: 'bytes=0-7', 'if-range': validator }
    const { status, body } = await visit('/a%20b.html', { headers })
    return [status, body]
  }
  const { headers } = await visit('/a%20b.html')
  for (const validator of [headers.etag, headers['last-modified']])
    assert.deepEqual(await part(String(validator)), [206, PAGE.slice(0, 8)])
  assert.deepEqual(await part('"nope"'), [200, PAGE])
})
