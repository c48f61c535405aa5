import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_UPKEEP } from '#metering/upkeep.ts'
import { createNodeUpkeep } from './upkeep.ts'

test('upkeep of a window is what the totals of all cells have grown by, over the lives of a cell', () => {
  const upkeep = createNodeUpkeep()
  const [tasks, other] = [{}, {}]
  upkeep.take(tasks, { ownNs: 100, statementMs: 10 })
  upkeep.take(other, { ownNs: 1, statementMs: 2 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { ownNs: 150, statementMs: 12 })
  upkeep.take(other, { ownNs: 2, statementMs: 4 })
  assert.deepEqual(upkeep.next(), { ownNs: 51, statementMs: 4 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { ownNs: 140, statementMs: 12 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { ownNs: 180, statementMs: 17 })
  assert.deepEqual(upkeep.next(), { ownNs: 30, statementMs: 5 })
  // Its next life.
  upkeep.take(tasks, { ownNs: 300, statementMs: 4 })
  assert.deepEqual(upkeep.next(), NO_UPKEEP)
  upkeep.take(tasks, { ownNs: 330, statementMs: 8 })
  assert.deepEqual(upkeep.next(), { ownNs: 30, statementMs: 4 })
})
