import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costText, createTally } from './tally.ts'

test('a tally adds nanojoules without rounding', () => {
  const tally = createTally()
  for (const joules of ['0.1', '0.2', '1', '0.000000001'])
    tally.count({ 'x-energy-joules': joules })
  assert.deepEqual(tally.cost(), { answers: 4, energy_j: 1.300000001, energy_estimate: null })
  assert.equal(costText(tally.cost()), '1.300000001 J')
})

test('a tally with one ceiling is a ceiling, and an answer without a figure adds none', () => {
  const tally = createTally()
  tally.count({ 'x-energy-joules': '0.5', 'x-energy-estimate': 'ceiling' })
  tally.count({})
  tally.count({ 'x-energy-joules': 'much' })
  assert.deepEqual(tally.cost(), { answers: 3, energy_j: 0.5, energy_estimate: 'ceiling' })
  assert.equal(costText(tally.cost()), 'at most 0.5 J')
})
