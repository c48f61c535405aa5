import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { withoutHidden } from './without-hidden.ts'

const SECRET = 'whsec_do-not-show'
const PENDING = { pending: ['var.s'] }
const told = (message: string, revealed: unknown, shown: unknown): string => {
  const error = withoutHidden(fault('invalid_request', message), 'webhook.w', { revealed, shown })
  assert.ok(error instanceof ErgonError)
  assert.equal(error.code, 'invalid_request')
  return error.message
}

test('a refusal that quotes a hidden value, or its beginning, is told without it', () => {
  for (const [revealed, shown] of [
    [{ url: SECRET }, { url: PENDING }],
    [{ env: { KEY: SECRET } }, { env: PENDING }],
    [{ secret: [{ value: SECRET }] }, { secret: [{ value: PENDING }] }],
    [{ url: SECRET }, {}],
  ])
    for (const quoted of [SECRET, SECRET.slice(0, 8)])
      assert.equal(
        told(`Could not use "${quoted}"`, revealed, shown),
        'Could not apply webhook.w: A hidden value does not fit here',
      )
})

test('other refusals stay as they are', () => {
  const message = 'Could not use "https://example.com": it is taken'
  const spec = { url: 'https://example.com' }
  assert.equal(told(message, { ...spec, key: SECRET }, { ...spec, key: PENDING }), message)
  assert.equal(told(message, spec, spec), message)
})
