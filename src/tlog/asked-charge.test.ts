// A sound receipt of another charge is no answer to the id that was asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherCharge } from './asked-charge.ts'
import { chargeOf } from './charge.fixture.ts'

test('a charge is that of the id of its receipt or of its request, and of no other id', () => {
  const charge = chargeOf(1)
  for (const own of ['rcpt_1', 'req_1']) assert.equal(otherCharge(own, charge), undefined)
  assert.equal(
    otherCharge('rcpt_2', charge),
    'This is the receipt of rcpt_1, and rcpt_2 was asked for',
  )
  assert.equal(
    otherCharge('req_2', charge),
    'This is the receipt of req_1, and req_2 was asked for',
  )
  assert.notEqual(otherCharge('', charge), undefined)
})
