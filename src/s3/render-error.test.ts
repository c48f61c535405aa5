import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { blobDamaged, blobMissing } from '#blobs/faults.ts'
import { fault } from '#contract/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { codeOf, renderFault } from './render-error.ts'
import { renderPageError } from './website/render-page-error.ts'

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

test('renderFault() gives the advice of a code that S3 has not, and no other', () => {
  const messageOf = (code: 'balance_depleted' | 'scope_missing') =>
    /<Message>(.*)<\/Message>/.exec(renderFault(fault(code, 'No'), 'PUT', PLACE).body)?.[1]
  assert.match(messageOf('balance_depleted') ?? '', /^No\. Add funds, as owner or admin/)
  assert.equal(messageOf('scope_missing'), 'No')
})

test('renderFault() says SlowDown with 503 where an account asks too much at once', () => {
  const error = fault('too_many_requests', 'Too many', { retryAfterS: 1 })
  const { status, headers, body } = renderFault(error, 'GET', PLACE)
  assert.deepEqual([status, headers['retry-after']], [503, '1'])
  assert.match(body, /<Code>SlowDown</)
  assert.equal(renderFault(error, 'HEAD', PLACE).status, 503)
})

test('renderFault() advises nobody to write again what a damaged page does not let write', () => {
  const { status, body } = renderFault(fault('page_damaged', 'block 7'), 'PUT', PLACE)
  assert.match(body, /<Code>InternalError<.*An alarm has told the operator/)
  assert.doesNotMatch(body, /Write the object again|try again|block 7/i)
  assert.equal(status, 500)
})

test("renderFault() keeps what is the operator's to mend to itself", () => {
  const id = '0198c1b2-0000-7000-8000-000000000000'
  const blobs = { blob_damaged: blobDamaged(id, 'other bytes'), blob_missing: blobMissing(id) }
  for (const [code, error] of Object.entries(blobs)) {
    const { status, body } = renderFault(error, 'GET', PLACE)
    assert.match(
      body,
      /<Code>InternalError<\/Code><Message>The stored bytes of this object are damaged/,
    )
    assert.match(body, /Write the object again, or ask the operator/)
    assert.doesNotMatch(body, /try again/)
    assert.ok(status === 500 && !body.includes(id), body)
    const page = renderPageError(error, 'GET', PLACE)
    assert.ok(!JSON.stringify(page).includes(id), page.body)
    assert.equal(codeOf({ code }), 'InternalError')
  }
  const away = new ErgonError({ code: 'blob_store_away', status: 503 }, `The store at ${id}`)
  const { status, body } = renderFault(away, 'GET', PLACE)
  assert.match(body, /<Code>ServiceUnavailable<\/Code>/)
  assert.ok(status === 503 && !body.includes(id))
})

test('renderFault() says in the head what else may be called', () => {
  const error = storageFault(
    'MethodNotAllowed',
    undefined,
    { Method: 'PUT' },
    { allow: 'GET, HEAD' },
  )
  const { headers, body } = renderFault(error, 'PUT', PLACE)
  assert.equal(headers['allow'], 'GET, HEAD')
  assert.ok(!body.includes('<allow>'), body)
})
