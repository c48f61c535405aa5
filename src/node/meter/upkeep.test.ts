import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_UPKEEP } from '#metering/upkeep.ts'
import { createNodeUpkeep } from './upkeep.ts'

test('upkeep of a window is what the totals of all cells have grown by, over the lives of a cell', () => {
  const upkeep = createNodeUpkeep()
  const [tasks, other] = [{}, {}]
  upkeep.take(tasks, { life: 'one', ownNs: 100, stateNs: 10 })
  upkeep.take(other, { life: 'other', ownNs: 1, stateNs: 2 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { life: 'one', ownNs: 150, stateNs: 12 })
  upkeep.take(other, { life: 'other', ownNs: 2, stateNs: 4 })
  assert.deepEqual(upkeep.next(), { ownNs: 51, stateNs: 4 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { life: 'one', ownNs: 140, stateNs: 12 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { life: 'one', ownNs: 180, stateNs: 17 })
  assert.deepEqual(upkeep.next(), { ownNs: 30, stateNs: 5 })
  // Its next life.
  upkeep.take(tasks, { life: 'two', ownNs: 300, stateNs: 4 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { life: 'two', ownNs: 330, stateNs: 8 })
  assert.deepEqual(upkeep.next(), { ownNs: 30, stateNs: 4 })
  // A life whose connections use nothing here, as those of a state on another machine.
  upkeep.take(tasks, { life: 'three', ownNs: 5, stateNs: 8 })
  upkeep.take(tasks, { life: 'three', ownNs: 25, stateNs: 8 })
  assert.deepEqual(upkeep.next(), { ownNs: 20, stateNs: 0 })
})
