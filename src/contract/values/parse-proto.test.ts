import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { VARIABLE_NAME } from '#contract/functions/function-limits.ts'
import { parseWith } from './parse.ts'

test('parseWith() refuses the name __proto__, which a map of names would drop', () => {
  const schema = z.object({ env: z.record(z.string(), z.string()) })
  const sent: unknown = JSON.parse('{"env":{"__proto__":"x"}}')
  assert.throws(() => parseWith(schema, sent), {
    code: 'invalid_request',
    message: 'Could not accept env.__proto__: the name is reserved',
  })
  assert.deepEqual(parseWith(schema, { env: { A: 'x' } }), { env: { A: 'x' } })
  assert.ok(!VARIABLE_NAME.test('__proto__') && VARIABLE_NAME.test('__proto'))
})
