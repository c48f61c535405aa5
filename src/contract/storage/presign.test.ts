import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePresignRequest } from './presign.ts'

const ASKED = { bucket: 'photos', key: 'a' }

test('an unknown field of a presign request is refused, and the known ones are named', () => {
  assert.equal(parsePresignRequest({ ...ASKED, expires_s: 60 }).expires_s, 60)
  for (const name of ['expires_in', 'Method', 'constructor', '__proto__'])
    assert.throws(
      () => parsePresignRequest(JSON.parse(`{"bucket":"photos","key":"a","${name}":60}`)),
      {
        code: 'invalid_request',
        status: 400,
        param: name,
        message: new RegExp(
          `^Could not accept ${name}: it is not known here.*here are bucket, key, method, expires_s$`,
        ),
      },
    )
})

test('a presign request is refused in plain words', () => {
  const message = (more: object) => {
    try {
      parsePresignRequest({ ...ASKED, ...more })
    } catch (error) {
      return (error as Error).message
    }
    return 'accepted'
  }
  assert.equal(
    message({ expires_s: 604_801 }),
    'Could not accept expires_s: must be at most 604800',
  )
  assert.equal(message({ method: 'PATCH' }), 'Could not accept method: must be "GET" or "PUT"')
  assert.equal(
    message({ bucket: 'ab' }),
    'Could not accept bucket: must have at least 3 characters',
  )
  assert.equal(message({ bucket: undefined }), 'Could not accept bucket: it is missing')
})
