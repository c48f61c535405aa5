// Our reading of version 2 against AWS's published examples, and against botocore where python3 has it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTarget } from '#s3/target.fixture.ts'
import { encodeName } from '#s3/target.ts'
import { parseCredential } from './credential.ts'
import { withHoisted } from './hoisted.ts'
import { createSignatureVerifier } from './verify.ts'

const BASES = { api: ['s3.amazonaws.com'], website: [] }

type Wire = {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

function read({ method, target: raw, headers }: Wire) {
  const target = parseTarget(raw, headers['host'] ?? 's3.amazonaws.com', BASES)
  const credential = parseCredential(target, headers)
  assert.ok(credential.kind === 'header-v2' || credential.kind === 'query-v2')
  const request = { ...target, method, rawHeaders: Object.entries(headers).flat() }
  return { credential, request, target }
}

function check(wire: Wire, secret: string, nowMs: number) {
  const { credential, request } = read(wire)
  return createSignatureVerifier({ now: () => nowMs }).verify(credential, secret, request)
}

// AWS, "Signing and authenticating REST requests", the examples.
const KEY = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const HOST = 'johnsmith.s3.amazonaws.com'
const example = (
  method: string,
  target: string,
  signature: string,
  headers: Wire['headers'] = {},
): Wire => ({
  method,
  target,
  headers: { host: HOST, ...headers, authorization: `AWS ${KEY}:${signature}` },
})
const EXAMPLES = {
  get: example('GET', '/photos/puppy.jpg', 'bWq2s1WEIj+Ydj0vQ697zp+IXMU=', {
    date: 'Tue, 27 Mar 2007 19:36:42 +0000',
  }),
  put: example('PUT', '/photos/puppy.jpg', 'MyyxeRY7whkBe+bq8fHCL/2kKUg=', {
    'content-type': 'image/jpeg',
    'content-length': '94328',
    date: 'Tue, 27 Mar 2007 21:15:45 +0000',
  }),
  list: example('GET', '/?prefix=photos&max-keys=50&marker=puppy', 'htDYFYduRNen8P9ZfE/s9SuKy0U=', {
    'user-agent': 'Mozilla/5.0',
    date: 'Tue, 27 Mar 2007 19:42:41 +0000',
  }),
  acl: example('GET', '/?acl', 'c2WLPFtWHVgbEmeEG93a4cG37dM=', {
    date: 'Tue, 27 Mar 2007 19:44:46 +0000',
  }),
  buckets: example('GET', '/', 'qGdzdERIC03wnaRNKh6OqZehG9s=', {
    host: 's3.amazonaws.com',
    date: 'Wed, 28 Mar 2007 01:29:59 +0000',
  }),
  letters: example(
    'GET',
    '/dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re',
    'DNEZGsoieTZ92F3bUfSPQcbGmlM=',
    {
      host: 's3.amazonaws.com',
      date: 'Wed, 28 Mar 2007 01:49:49 +0000',
    },
  ),
}

test("verify() accepts AWS's examples of version 2", () => {
  for (const [name, wire] of Object.entries(EXAMPLES)) {
    const nowMs = Date.parse(wire.headers['date'] ?? '')
    assert.doesNotThrow(() => check(wire, SECRET, nowMs), name)
    assert.throws(() => check(wire, `${SECRET}x`, nowMs), { code: 'SignatureDoesNotMatch' }, name)
  }
  const query = `AWSAccessKeyId=${KEY}&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620`
  const presigned = { method: 'GET', target: `/photos/puppy.jpg?${query}`, headers: { host: HOST } }
  const verified = check(presigned, SECRET, 1_175_139_620_000)
  assert.deepEqual(verified, { seed: undefined, payload: 'UNSIGNED-PAYLOAD' })
  assert.throws(() => check(presigned, SECRET, 1_175_139_620_001), {
    code: 'AccessDenied',
    message: 'Request has expired',
  })
})

const sha1 = (text: string) => createHmac('sha1', SECRET).update(text).digest('base64')
const AT_MS = Date.parse('2026-11-21T09:30:00Z')
const DATE = 'Sat, 21 Nov 2026 09:30:00 GMT'
const OTHER_DATE = 'Sat, 21 Nov 2026 20:00:00 GMT'

const byHeader = (text: string, headers: Wire['headers'], target = '/b/k'): Wire => ({
  method: 'GET',
  target,
  headers: { ...headers, authorization: `AWS ${KEY}:${sha1(text)}` },
})

test('verify() bounds the date of a header to 15 minutes; x-amz-date stands for Date', () => {
  for (const wire of [
    byHeader(`GET\n\n\n${DATE}\n/b/k`, { date: DATE }),
    byHeader(`GET\n\n\n\nx-amz-date:${DATE}\n/b/k`, { 'x-amz-date': DATE }),
    byHeader(`GET\n\n\n\nx-amz-date:${DATE}\n/b/k`, { 'x-amz-date': DATE, date: OTHER_DATE }),
    byHeader('GET\n\n\n\nx-amz-date:20261121T093000Z\n/b/k', { 'x-amz-date': '20261121T093000Z' }),
  ]) {
    for (const offsetMs of [-900_000, 900_000]) check(wire, SECRET, AT_MS + offsetMs)
    for (const offsetMs of [-900_001, 900_001])
      assert.throws(() => check(wire, SECRET, AT_MS + offsetMs), { code: 'RequestTimeTooSkewed' })
  }
})

test('parseCredential() refuses dates that are none with AccessDenied', () => {
  for (const date of ['', 'Bad Date', '1795253400', '2026', 'Tue, 07 Jul 1950 21:53:04 GMT'])
    for (const headers of [{ date }, { 'x-amz-date': date, date: DATE }])
      assert.throws(() => read(byHeader('', headers)), { code: 'AccessDenied', status: 403 }, date)
})

test('parseCredential() refuses malformed credentials of version 2', () => {
  const code = (expected: string, target: string, headers: Wire['headers'] = { date: DATE }) =>
    assert.throws(() => read({ method: 'GET', target, headers }), { code: expected }, target)
  code('InvalidArgument', '/b', { authorization: 'AWS HAHAHA', date: DATE })
  code('InvalidArgument', '/b', { authorization: 'AWS :x', date: DATE })
  code('InvalidArgument', '/b', { authorization: 'AWS', date: DATE })
  code('InvalidToken', '/b', { authorization: 'AWS a:b', 'x-amz-security-token': 't', date: DATE })
  code('InvalidToken', '/b?AWSAccessKeyId=a&Signature=b&Expires=1&x-amz-security-token=t')
  for (const missing of ['AWSAccessKeyId=a', 'Signature=b', 'AWSAccessKeyId=a&Signature=b'])
    code('AccessDenied', `/b?${missing}`)
  for (const expires of ['NaN', '1e9', '0x10', ' 1', '1.5', '9999999999999', 'Infinity'])
    code('AccessDenied', `/b?AWSAccessKeyId=a&Signature=b&Expires=${encodeURIComponent(expires)}`)
  // Two ways at once: neither wins.
  const twice = '/b?AWSAccessKeyId=a&Signature=b&Expires=1'
  code('InvalidArgument', `${twice}&X-Amz-Signature=x`)
  code('InvalidArgument', twice, { authorization: 'AWS a:b', date: DATE })
  code('InvalidArgument', twice, { authorization: 'Bearer svc_x' })
})

test('an address that has ended is refused whatever its signature, the year 1 and minus one too', () => {
  for (const expires of ['-62135596800', '-1', '0', String(AT_MS / 1000 - 1), '-999999999999'])
    assert.throws(
      () =>
        check(
          {
            method: 'GET',
            target: `/b/k?AWSAccessKeyId=a&Signature=b&Expires=${expires}`,
            headers: {},
          },
          SECRET,
          AT_MS,
        ),
      { code: 'AccessDenied', message: 'Request has expired' },
    )
})

test('neither form of version 2 can be turned into the other', () => {
  const endS = AT_MS / 1000 + 60
  const signature = sha1(`GET\n\n\n${endS}\n/b/k`)
  const query = `AWSAccessKeyId=${KEY}&Signature=${encodeURIComponent(signature)}`
  const address = { method: 'GET', headers: {}, target: `/b/k?${query}&Expires=${endS}` }
  check(address, SECRET, AT_MS)
  const authorization = `AWS ${KEY}:${signature}`
  const asHeader = {
    method: 'GET',
    target: '/b/k',
    headers: { authorization, date: String(endS) },
  }
  assert.throws(() => check(asHeader, SECRET, AT_MS), { code: 'AccessDenied' })
  const ofHeader = encodeURIComponent(sha1(`GET\n\n\n${DATE}\n/b/k`))
  const asAddress = `/b/k?AWSAccessKeyId=${KEY}&Signature=${ofHeader}&Expires=${encodeURIComponent(DATE)}`
  assert.throws(() => check({ ...address, target: asAddress }, SECRET, AT_MS), {
    code: 'AccessDenied',
  })
})

test('verify() takes a bucket with and without the slash behind it, as clients sign either', () => {
  for (const path of ['/b', '/b/'])
    check(byHeader(`GET\n\n\n${DATE}\n${path}?acl`, { date: DATE }, '/b?acl'), SECRET, AT_MS)
  const key = byHeader(`GET\n\n\n${DATE}\n/b/k/`, { date: DATE })
  assert.throws(() => check(key, SECRET, AT_MS), { code: 'SignatureDoesNotMatch' })
})

test('every parameter that names an operation is signed, also by who leaves it out', () => {
  const endS = AT_MS / 1000 + 60
  const signature = encodeURIComponent(sha1(`PUT\n\n\n${endS}\n/b/k`))
  const target = `/b/k?AWSAccessKeyId=${KEY}&Signature=${signature}&Expires=${endS}`
  check({ method: 'PUT', headers: {}, target }, SECRET, AT_MS)
  for (const name of [
    'retention',
    'legal-hold',
    'annotation',
    'encryption',
    'attributes',
    'tagging',
    'acl',
    'publicAccessBlock',
    'ownershipControls',
    'uploadId=1',
    'versionId=1',
    'partNumber=1',
    'response-content-type=text/html',
    'response-expires=0',
    'annotationName=a',
    '%61cl',
  ])
    for (const changed of [`${target}&${name}`, target.replace('?', `?${name}&`)])
      assert.throws(
        () => check({ method: 'PUT', headers: {}, target: changed }, SECRET, AT_MS),
        { code: 'SignatureDoesNotMatch' },
        name,
      )
})

test('withHoisted() gives what an address of version 2 bears, and the signature is over it', () => {
  const endS = AT_MS / 1000 + 60
  const text = `PUT\n\ntext/plain\n${endS}\nx-amz-acl:private\nx-amz-meta-a:b c\n/b/k`
  const signature = encodeURIComponent(sha1(text))
  const more = 'content-type=text%2Fplain&x-amz-meta-a=b%20c&x-amz-acl=private'
  const target = `/b/k?AWSAccessKeyId=${KEY}&${more}&Signature=${signature}&Expires=${endS}`
  const hoisted = { 'content-type': 'text/plain', 'x-amz-meta-a': 'b c', 'x-amz-acl': 'private' }
  for (const headers of [{}, { 'x-amz-acl': 'private' }, hoisted]) {
    const wire = { method: 'PUT', target, headers }
    check(wire, SECRET, AT_MS)
    assert.deepEqual(withHoisted(read(wire).target, headers), hoisted)
  }
  for (const headers of [
    { 'x-amz-acl': 'public-read' },
    { 'content-type': 'text/html' },
    { 'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==' },
    { 'x-amz-tagging': 'a=b' },
  ])
    assert.throws(() => check({ method: 'PUT', target, headers }, SECRET, AT_MS), {
      code: 'SignatureDoesNotMatch',
    })
})

/** Signs requests as boto3 does: each as [method, address, headers], in its header or its address. */
const SIGN_BY_BOTOCORE = `
import json, sys
from botocore.auth import HmacV1Auth, HmacV1QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
asked = json.load(sys.stdin)
keys = Credentials(asked['key'], asked['secret'])
class Header(HmacV1Auth):
    def _get_date(self): return asked['date']
class Query(HmacV1QueryAuth):
    def _get_date(self): return str(asked['expires'])
done = []
for method, url, headers in asked['requests']:
    for signer in (Header(keys), Query(keys)):
        request = AWSRequest(method=method, url=url, headers=dict(headers))
        signer.add_auth(request)
        sent = {} if isinstance(signer, Query) else dict(request.headers.items())
        done.append([method, request.url, sent])
json.dump(done, sys.stdout)
`

const hasBotocore =
  spawnSync('python3', ['-c', 'import botocore.auth'], { stdio: 'ignore' }).status === 0

const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => !text.includes('\0') && text.isWellFormed())
const value = fc.stringMatching(/^[!-~]( ?[!-~]){0,12}$/)
const asked = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'HEAD'),
  key: fc.array(segment, { minLength: 1, maxLength: 3 }),
  query: fc.dictionary(
    fc.constantFrom(
      'acl',
      'versionId',
      'uploadId',
      'partNumber',
      'response-content-type',
      'prefix',
    ),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((text) => !text.includes('\0')),
    { maxKeys: 3 },
  ),
  headers: fc.dictionary(
    fc.constantFrom('x-amz-meta-a', 'x-amz-acl', 'X-Amz-Meta-B', 'Content-Type', 'Content-MD5'),
    value,
    { maxKeys: 3 },
  ),
})

test(
  "verify() accepts what botocore's signers make, and refuses any change of it",
  { skip: !hasBotocore && 'python3 has no botocore' },
  () => {
    const wanted = fc.sample(asked, { numRuns: 300, seed: 16 })
    const expires = AT_MS / 1000 + 60
    const requests = wanted.map(({ method, key, query, headers }) => {
      const search = Object.entries(query).map(([name, text]) => `${name}=${encodeName(text)}`)
      const url = `http://s3.amazonaws.com/b/${key.map(encodeName).join('/')}?${search.join('&')}`
      return [method, url.replace(/\?$/, ''), headers]
    })
    const input = JSON.stringify({ key: KEY, secret: SECRET, date: DATE, expires, requests })
    const done = spawnSync('python3', ['-c', SIGN_BY_BOTOCORE], { input, encoding: 'utf8' })
    assert.equal(done.status, 0, done.stderr)
    const wires = (JSON.parse(done.stdout) as [string, string, Record<string, string>][]).map(
      ([method, url, headers]): Wire => ({
        method,
        target: url.slice('http://s3.amazonaws.com'.length),
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]),
        ),
      }),
    )
    assert.equal(wires.length, 2 * wanted.length)
    for (const [at, wire] of wires.entries()) {
      assert.doesNotThrow(() => check(wire, SECRET, AT_MS), JSON.stringify(wire))
      const changes = changesOf(wire)
      const change = changes[at % changes.length]
      assert.ok(change !== undefined)
      assert.throws(
        () => check(change, SECRET, AT_MS),
        { status: 403 },
        JSON.stringify([wire, change]),
      )
    }
  },
)

/** The same request with one signed element changed. */
function changesOf({ method, target, headers }: Wire): Wire[] {
  const { authorization = '' } = headers
  const flipped = (text: string) => text.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
  const changedHeaders = Object.entries(headers)
    .filter(([name]) => /^(x-amz-|content-(md5|type)$)/.test(name))
    .map(([name, text]) => ({ method, target, headers: { ...headers, [name]: `${text}x` } }))
  const changedSignature =
    authorization === ''
      ? {
          target: target.replace(
            /Signature=[^&]*/,
            (found) => `Signature=${flipped(found.slice(10))}`,
          ),
          headers,
        }
      : {
          target,
          headers: {
            ...headers,
            authorization: authorization.replace(/:.*/, (found) => `:${flipped(found.slice(1))}`),
          },
        }
  const joint = target.includes('?') ? '&' : '?'
  return [
    { method: method === 'PUT' ? 'GET' : 'PUT', target, headers },
    { method, target: target.replace('/b/', '/b/x'), headers },
    { method, target: target.replace('/b/', '/b//'), headers },
    { method, target: `${target}${joint}acl`, headers },
    { method, target: `${target}${joint}versionId=x`, headers },
    { method, target, headers: { ...headers, 'x-amz-tagging': 'a=b' } },
    { method, ...changedSignature },
    ...changedHeaders,
    ...(authorization === ''
      ? [{ method, target: target.replace(/Expires=(\d+)/, 'Expires=1$1'), headers }]
      : [{ method, target, headers: { ...headers, date: 'Sat, 21 Nov 2026 09:30:01 GMT' } }]),
  ]
}
