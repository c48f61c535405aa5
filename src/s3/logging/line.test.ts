import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mintToken } from '#identity/token-text.ts'
import { accessLogLine, type LoggedRequest } from './line.ts'

const REQUEST: LoggedRequest = {
  bucketOwner: 'acct_a',
  bucket: 'photos',
  timeMs: Date.parse('2026-11-21T08:09:10.500Z'),
  address: '203.0.113.7',
  requester: undefined,
  requestId: 'req_1',
  hostId: 'host',
  operation: 'REST.GET.OBJECT',
  key: 'a b',
  method: 'GET',
  target: '/photos/a%20b?X-Amz-Credential=svc_x%2F20261121&X-Amz-Signature=abc&versionId=1',
  status: 404,
  errorCode: 'NoSuchKey',
  sent: 0,
  objectSize: undefined,
  totalMs: 12.4,
  turnaroundMs: 3.6,
  referer: undefined,
  userAgent: 'curl/8 "x"',
  versionId: '1',
  signing: { by: 'query', version: 4 },
  host: 'localhost:8080',
  tlsVersion: undefined,
  cipherSuite: undefined,
  neededAcl: false,
}

test('accessLogLine() has the fields of AWS, without signatures', () => {
  assert.equal(
    accessLogLine(REQUEST),
    'acct_a photos [21/Nov/2026:08:09:10 +0000] 203.0.113.7 - req_1 REST.GET.OBJECT a%20b ' +
      '"GET /photos/a%20b?X-Amz-Credential=-&X-Amz-Signature=-&versionId=1 HTTP/1.1" ' +
      '404 NoSuchKey - - 12 4 "-" "curl/8 \\x22x\\x22" 1 host SigV4 - QueryString ' +
      'localhost:8080 - - -',
  )
})

test('accessLogLine() hides what signs an address of version 2 and names the version', () => {
  const target = '/photos/a?AWSAccessKeyId=svck_x&Signature=abc%3D&Expires=1&%53ignature=b'
  const line = accessLogLine({ ...REQUEST, target, signing: { by: 'header', version: 2 } })
  assert.match(line, /\?AWSAccessKeyId=-&Signature=-&Expires=1&%53ignature=- HTTP/)
  assert.match(line, / SigV2 - AuthHeader /)
})

test('accessLogLine() of a part of a request says what AWS does', () => {
  const { operation: _, ...rest } = REQUEST
  assert.equal(
    accessLogLine({ ...rest, operation: 'BATCH.DELETE.OBJECT', target: undefined, status: 204 }),
    'acct_a photos [21/Nov/2026:08:09:10 +0000] 203.0.113.7 - req_1 BATCH.DELETE.OBJECT a%20b ' +
      '- 204 NoSuchKey - - - - - - 1 host SigV4 - QueryString localhost:8080 - - -',
  )
})

test('accessLogLine() keeps its 26 fields whatever a client writes', () => {
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(text, text, text, text, (key, target, referer, userAgent) => {
      const line = accessLogLine({ ...REQUEST, key, target, referer, userAgent })
      const fields = line.match(/\[[^\]]*\]|"[^"]*"|[^ "]+/g)
      assert.equal(fields?.length, 26)
      assert.equal(fields?.join(' '), line)
    }),
  )
})

test('accessLogLine() has no token in it, wherever a client writes one and however encoded', () => {
  const token = mintToken()
  const secret = token.slice(4)
  const percent = (text: string) =>
    [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
  const decode = (text: string) =>
    text.replace(/%([0-7][0-9a-f])/gi, (_all, code: string) =>
      String.fromCharCode(parseInt(code, 16)),
    )
  const forms = [
    token,
    `svc%5F${secret}`,
    `svc%5f${secret}`,
    `svc%255F${secret}`,
    percent(token),
    percent(token).replaceAll('%', '%25'),
    `svc_${percent(secret)}`,
  ]
  for (const form of forms) {
    const address = `http://x/?a=1&X-Amz-Credential=${form}%2F20261121&X-Amz-Signature=00ff`
    const line = accessLogLine({
      ...REQUEST,
      key: `a/${form}`,
      target: `/photos/a/${form}?%58-Amz-Credential=${form}&X%2dAmz-Signature=00ff&x=${form}`,
      referer: address,
      userAgent: `agent ${form} ${'x'.repeat(1000)}${form}`,
      host: form,
      versionId: form,
    })
    const plain = decode(decode(line))
    assert.ok(!plain.includes(secret), line)
    assert.ok(!plain.includes(secret.slice(0, 12)), line)
    assert.ok(!line.includes('00ff'), line)
    assert.match(line, /\/\?a=1&X-Amz-Credential=-&X-Amz-Signature=-"/)
    assert.match(line, /\?%58-Amz-Credential=-&X%2dAmz-Signature=-&x=/)
  }
  const key = 'svc_accounting-of-2026.csv'
  assert.ok(accessLogLine({ ...REQUEST, key }).includes(` ${key} `))
})

test('accessLogLine() has 1 KiB of a header at most', () => {
  const long = 'x'.repeat(8000)
  const line = accessLogLine({ ...REQUEST, referer: long, userAgent: long })
  assert.equal(line.match(/x+/g)?.filter((run) => run.length === 1024).length, 2)
  assert.ok(line.length < 3000, `${line.length} characters`)
})
