import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { S3Client } from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { createSignatureVerifier } from '#s3/authentication/verify.ts'
import { checkPostPolicy, parsePostPolicy } from './post-policy.ts'
import { postReply } from './post-reply.ts'
import { checkTextV2 } from '#s3/authentication/version-two.ts'
import { parseFormSignature } from './post-signature.ts'

const NOW_MS = Date.parse('2026-11-21T12:00:00Z')
const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status
const encode = (document: unknown) => Buffer.from(JSON.stringify(document)).toString('base64')
const document = (...conditions: unknown[]) =>
  encode({ expiration: '2026-11-21T13:00:00Z', conditions })
const BUCKET = { bucket: 'photos' }
const KEY = ['starts-with', '$key', 'a']

test('parsePostPolicy() reads conditions in any case and ranges of numbers or digits', () => {
  const policy = parsePostPolicy(
    document({ bUcKeT: 'photos' }, ['StArTs-WiTh', '$KeY', 'a'], ['content-length-range', 1, '9']),
  )
  assert.deepEqual(policy.conditions, [
    { operator: 'eq', field: 'bucket', value: 'photos' },
    { operator: 'starts-with', field: 'key', value: 'a' },
  ])
  assert.deepEqual(policy.length, { min: 1, max: 9 })
  assert.deepEqual(parsePostPolicy(document()).length, { min: 0, max: Infinity })
})

test('parsePostPolicy() refuses what is no policy', () => {
  const expiration = '2026-11-21T13:00:00Z'
  const bad = [
    'e30x',
    encode([]),
    encode({ conditions: [] }),
    encode({ expiration }),
    encode({ EXPIRATION: expiration, conditions: [] }),
    encode({ expiration, CONDITIONS: [] }),
    encode({ expiration: '2026-11-21 13:00:00.5+00:00', conditions: [] }),
    encode({ expiration: '2026-13-21T13:00:00Z', conditions: [] }),
    document({}),
    document({ a: 'b', c: 'd' }),
    document({ a: 1 }),
    document('a'),
    document(['eq', 'key', 'a']),
    document(['ends-with', '$key', 'a']),
    document(['content-length-range', 0]),
    document(['content-length-range', -1, 0]),
    document(['content-length-range', '1.5', 2]),
  ]
  for (const text of bad)
    assert.throws(() => parsePostPolicy(text), refused('InvalidPolicyDocument'), text)
})

const check = (conditions: unknown[], fields: Record<string, string>, nowMs = NOW_MS) =>
  checkPostPolicy(
    parsePostPolicy(document(...conditions)),
    { fields: new Map(Object.entries(fields)), bucket: 'photos', key: 'abc' },
    nowMs,
  )

test('checkPostPolicy() wants each condition to hold and each field to have one', () => {
  check([BUCKET, KEY], { key: '${filename}', policy: 'p', signature: 's' })
  check([BUCKET, { key: 'abc' }], { key: 'a${filename}', 'x-ignore-x': 'y', awsaccesskeyid: 'k' })
  const types = ['starts-with', '$Content-Type', 'image/']
  check([BUCKET, KEY, types], { 'content-type': 'image/png,image/jpeg' })
  const denied = refused('AccessDenied', 403)
  const rows: [conditions: unknown[], fields: Record<string, string>][] = [
    [[KEY], {}],
    [[BUCKET], { key: 'abc' }],
    [[{ bucket: 'videos' }, KEY], {}],
    [[BUCKET, { key: '${filename}' }], { key: '${filename}' }],
    [[BUCKET, { key: 'ABC' }], { key: 'abc' }],
    [[BUCKET, KEY], { 'x-amz-meta-a': 'b' }],
    [[BUCKET, KEY, ['starts-with', '$x-amz-meta-a', 'b']], {}],
    [[BUCKET, KEY, ['eq', '$x-amz-meta-a', '']], { 'x-amz-meta-a': 'b' }],
    [[BUCKET, KEY, types], { 'content-type': 'image/png,text/html' }],
  ]
  for (const [conditions, fields] of rows)
    assert.throws(() => check(conditions, fields), denied, JSON.stringify([conditions, fields]))
  assert.throws(() => check([BUCKET, KEY], {}, NOW_MS + 3_600_000), denied)
})

test('checkPostPolicy() lets no field through that no condition names', () => {
  const names = fc.stringMatching(/^x-amz-meta-[a-z]{1,4}$/)
  fc.assert(
    fc.property(fc.uniqueArray(names), fc.uniqueArray(names), (named, sent) => {
      const conditions = [BUCKET, KEY, ...named.map((name) => ['starts-with', `$${name}`, ''])]
      const fields = Object.fromEntries(sent.map((name) => [name, 'v']))
      // A field that may begin with anything may also be left out.
      const isNamed = sent.every((name) => named.includes(name))
      if (isNamed) check(conditions, fields)
      else assert.throws(() => check(conditions, fields), refused('AccessDenied', 403))
    }),
  )
})

test('a form that the SDK signs is verified; one that is changed is not', async () => {
  const secret = 'svc_secret'
  const client = new S3Client({
    region: 'us-east-1',
    credentials: { accessKeyId: 'svc_id', secretAccessKey: secret },
  })
  const { fields } = await createPresignedPost(client, {
    Bucket: 'photos',
    Key: 'a/${filename}',
    Fields: { acl: 'private' },
    Conditions: [['content-length-range', 0, 100]],
  })
  client.destroy()
  const sent = new Map(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]))
  const signed = parseFormSignature(sent)
  assert.ok(signed !== undefined && signed.credential.kind === 'form')
  assert.equal(signed.credential.accessKey, 'svc_id')
  const verifier = createSignatureVerifier({ now: Date.now })
  verifier.verifyText(signed.credential, secret, signed.policy)
  const { credential, policy } = signed
  const mismatch = refused('SignatureDoesNotMatch', 403)
  assert.throws(() => verifier.verifyText(credential, secret, `${policy}A`), mismatch)
  assert.throws(() => verifier.verifyText(credential, 'other', policy), mismatch)
  const posted = { fields: sent, bucket: 'photos', key: 'a/photo.jpg' }
  checkPostPolicy(parsePostPolicy(policy), posted, Date.now())
})

test('the older signature of a form is verified', () => {
  const policy = document(BUCKET)
  const signature = createHmac('sha1', 'secret').update(policy).digest('base64')
  const fields = new Map(Object.entries({ policy, signature, awsaccesskeyid: 'key' }))
  assert.deepEqual(parseFormSignature(fields), {
    policy,
    credential: { kind: 'form-v2', accessKey: 'key', signature },
  })
  checkTextV2([Buffer.from(policy)], signature, 'secret')
  const mismatch = refused('SignatureDoesNotMatch', 403)
  assert.throws(() => checkTextV2([Buffer.from(policy)], signature, 'other'), mismatch)
  assert.throws(() => checkTextV2([Buffer.from(policy)], '', 'secret'), mismatch)
})

test('a form is anonymous without policy and signature, and refused with only one of them', () => {
  assert.equal(parseFormSignature(new Map([['key', 'a']])), undefined)
  for (const fields of [
    { policy: 'p' },
    { policy: 'p', awsaccesskeyid: 'k' },
    { signature: 's' },
    { awsaccesskeyid: 'k' },
    { policy: 'p', 'x-amz-signature': 's' },
    { policy: 'p', 'x-amz-algorithm': 'AWS4-HMAC-SHA256' },
  ])
    assert.throws(
      () => parseFormSignature(new Map(Object.entries(fields))),
      refused('InvalidArgument'),
      JSON.stringify(fields),
    )
})

test('postReply() redirects, or answers with the status asked for', () => {
  const object = { bucket: 'b', key: 'a b&c', etag: 'e', location: 'http://localhost/b/a%20b' }
  const reply = (fields: Record<string, string>) =>
    postReply(new Map(Object.entries(fields)), object)
  assert.equal(reply({}).status, 204)
  assert.equal(reply({ success_action_status: '404' }).status, 204)
  assert.equal(reply({ success_action_status: '200' }).status, 200)
  const created = reply({ success_action_status: '201' })
  assert.equal(created.status, 201)
  assert.match(created.body, /<Bucket>b<\/Bucket><Key>a b&amp;c<\/Key><ETag>&quot;e&quot;</)
  const redirected = reply({ success_action_redirect: 'http://example.com/x?y=1' })
  assert.equal(redirected.status, 303)
  assert.equal(
    redirected.headers['location'],
    'http://example.com/x?y=1&bucket=b&key=a%20b%26c&etag=%22e%22',
  )
  assert.equal(reply({ success_action_redirect: 'javascript:alert(1)' }).status, 204)
})
