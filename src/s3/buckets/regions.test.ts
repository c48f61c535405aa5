import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askedRegion } from './regions.ts'

test('askedRegion() knows the region of the service, auto and nothing, and names what there is', () => {
  assert.equal(askedRegion('eu-1', 'eu-1'), 'eu-1')
  assert.equal(askedRegion('us-east-1', 'us-east-1'), 'us-east-1')
  for (const none of [undefined, '', 'auto']) assert.equal(askedRegion(none, 'eu-1'), undefined)
  for (const other of ['us-east-1', 'EU-1', 'eu-1 ', 'moon', 'x'.repeat(300)])
    assert.throws(() => askedRegion(other, 'eu-1'), {
      code: 'InvalidLocationConstraint',
      status: 400,
      message: /the regions of this service are eu-1, and auto/,
    })
})
