import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenSeeds, plantedSeeds } from './seeds.ts'

test('chosenSeeds() takes one seed, a range, and without either the usual ones', () => {
  assert.deepEqual(chosenSeeds(40, {}), { first: 1, count: 40, isOne: false })
  assert.deepEqual(chosenSeeds(40, { ERGON_LONG: '1' }), { first: 1, count: 10_000, isOne: false })
  assert.deepEqual(chosenSeeds(40, { ERGON_SEED: '7' }), { first: 7, count: 1, isOne: true })
  assert.deepEqual(chosenSeeds(40, { ERGON_SEEDS: '2501-5000', ERGON_LONG: '1' }), {
    first: 2501,
    count: 2500,
    isOne: false,
  })
  for (const text of ['', 'a', '5-2', '1-2-3', '-4'])
    assert.throws(() => chosenSeeds(40, { ERGON_SEEDS: text }), TypeError, text)
})

test('a planted fault has its known seed first, and each of the others once', () => {
  assert.deepEqual(plantedSeeds(3, 4), [3, 1, 2, 4])
  assert.deepEqual(plantedSeeds(9, 2), [9, 1, 2])
})
