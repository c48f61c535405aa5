import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
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
  authentication: 'QueryString',
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
