import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { storageFault } from '#storage/errors.ts'
import { renderFault } from './render-error.ts'

const PLACE = { requestId: 'req_1', resource: '/b/<k>', hostId: 'gw-1' }

test('renderFault() writes code, message, details and place', () => {
  const error = storageFault('NoSuchKey', undefined, { Key: 'a&b' })
  const { status, headers, body } = renderFault(error, 'GET', PLACE)
  assert.equal(status, 404)
  assert.equal(headers['x-amz-request-id'], 'req_1')
  assert.equal(
    body,
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a&amp;b</Key><Resource>/b/&lt;k&gt;</Resource><RequestId>req_1</RequestId><HostId>gw-1</HostId></Error>',
  )
})

test('renderFault() gives no body to HEAD and 304', () => {
  assert.equal(renderFault(storageFault('NoSuchKey'), 'HEAD', PLACE).body, '')
  assert.equal(renderFault(storageFault('NotModified'), 'GET', PLACE).body, '')
})

test('renderFault() names the faults of the pipeline in the words of S3', () => {
  const rendered = renderFault(fault('overloaded', 'Too busy', { retryAfterS: 1 }), 'GET', PLACE)
  assert.match(rendered.body, /<Code>SlowDown<\/Code><Message>Too busy</)
  assert.equal(rendered.headers['retry-after'], '1')
})

test('renderFault() says SlowDown with 503 where an account asks too much at once', () => {
  const error = fault('too_many_requests', 'Too many', { retryAfterS: 1 })
  const { status, headers, body } = renderFault(error, 'GET', PLACE)
  assert.deepEqual([status, headers['retry-after']], [503, '1'])
  assert.match(body, /<Code>SlowDown</)
  assert.equal(renderFault(error, 'HEAD', PLACE).status, 503)
})
