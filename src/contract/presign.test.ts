import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePresignRequest } from './presign.ts'

const ASKED = { bucket: 'photos', key: 'a' }

test('an unknown member of a presign request is refused, and the known ones are named', () => {
  assert.equal(parsePresignRequest({ ...ASKED, expires_s: 60 }).expires_s, 60)
  for (const name of ['expires_in', 'Method', 'constructor', '__proto__'])
    assert.throws(
      () => parsePresignRequest(JSON.parse(`{"bucket":"photos","key":"a","${name}":60}`)),
      {
        code: 'invalid_request',
        status: 400,
        param: name,
        message: `Could not accept ${name}: it is not known here; there are bucket, key, method, expires_s`,
      },
    )
})
