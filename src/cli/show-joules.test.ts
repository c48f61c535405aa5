import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fittingLine } from './show-joules.ts'

test('fittingLine() leaves out the last parts of a readout that do not fit whole', () => {
  const parts = [
    'joules  1.25 J of this stack today',
    '0.02 W now',
    'account 0.28 W',
    '499.7 J today',
  ]
  assert.equal(fittingLine(parts, 100), parts.join(' · '))
  assert.equal(fittingLine(parts, 79), parts.slice(0, 3).join(' · '))
  assert.equal(fittingLine(parts, 20), '')
})
