import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from '#objects/types.ts'
import { expiryHeader } from './version-headers.ts'

test('expiryHeader() has the date of the first expiry and the encoded id of its rule', () => {
  const rule = { id: 'r 1', enabled: true, filter: { bare: false, tags: {} } }
  const rules = [
    { ...rule, id: 'late', expiration: { days: 9 } },
    { ...rule, expiration: { days: 1 } },
  ]
  const bucket = { configurations: { lifecycle: { rules } } } as unknown as Bucket
  const modifiedAtMs = Date.parse('2026-11-21T12:00:00Z')
  const object = { key: 'a', size: 1, tags: {}, modifiedAtMs }
  assert.deepEqual(expiryHeader(bucket, object), {
    'x-amz-expiration': 'expiry-date="Mon, 23 Nov 2026 00:00:00 GMT", rule-id="r%201"',
  })
  assert.deepEqual(expiryHeader({ ...bucket, configurations: {} }, object), {})
})
