import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pusdOf } from './money.ts'

test('pusdOf() takes dollars above 0, and says so', () => {
  assert.deepEqual(['5', '0.25', '0.000000000001'].map(pusdOf), [
    '5000000000000',
    '250000000000',
    '1',
  ])
  for (const amount of ['0', '0.00', '-1', 'much', '0.0000000000001'])
    assert.throws(() => pusdOf(amount), {
      message: `Not an amount in dollars above 0: "${amount}"`,
      exitCode: 2,
    })
})
