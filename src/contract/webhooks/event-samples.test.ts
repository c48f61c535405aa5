import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleOf, typeOfWanted } from './event-samples.ts'
import { EVENTS } from '#contract/events.ts'

test('each event type has a sample that its schema accepts', () => {
  for (const [type, { data }] of Object.entries(EVENTS)) {
    const sample = { ...sampleOf(type), account_id: 'acct_sample', sequence: 1 }
    assert.deepEqual(data.parse(sample), sample, type)
  }
})

test('the eleven types of the interface can be asked for, and the objects of a bucket', () => {
  const types = [
    'balance.low',
    'balance.depleted',
    'workload.deployed',
    'workload.suspended',
    'workload.crashed',
    'workload.scaled',
    'energy_budget.warning',
    'energy_budget.exceeded',
    'receipt.published',
    'fleet.region_outage',
    'compliance.evidence_ready',
  ]
  for (const type of types) assert.equal(typeOfWanted(type), type)
  assert.equal(typeOfWanted('bucket/my-photos/object-created'), 'object.created')
})

test('other words are no type', () => {
  for (const word of [
    '',
    '*',
    'balance',
    'toString',
    'bucket/A/object-created',
    'bucket//object-created',
  ])
    assert.equal(typeOfWanted(word), undefined, word)
  assert.equal(sampleOf('toString'), undefined)
})
