import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { createRefusals } from './refusals.ts'

test('refusals are kept in a ring, listed from the newest on, with tokens masked', () => {
  let nowMs = 0
  const refusals = createRefusals({ wallMs: () => ++nowMs }, 3)
  assert.deepEqual(refusals.list(), [])
  for (const request of ['req_1', 'req_2', 'req_3', 'req_4'])
    refusals.add(
      request,
      fault('not_found', `Could not find svc_${'a'.repeat(38)}`, { param: 'p' }),
    )
  assert.deepEqual(
    refusals.list().map(({ request }) => request),
    ['req_4', 'req_3', 'req_2'],
  )
  assert.deepEqual(refusals.list()[0], {
    request: 'req_4',
    at: '1970-01-01T00:00:00.004Z',
    status: 404,
    code: 'not_found',
    message: 'Could not find svc_***',
    param: 'p',
  })
})
