import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { createCrashes } from './crashes.ts'
import { keyOfInstance } from './versioned.ts'

const END = { exitCode: 3, words: 'it ended by exit code 3' }
const LIVE = { id: 'wl_a', version: 2 }
const of = (instance: number) => ({ ...LIVE, instance })

test('a workload is in a crash loop while all of its instances are, and others of its versions are not asked', () => {
  let marked = 0
  const state = {
    query: async () => ({ rows: [{ n: ++marked }], rowCount: 1 }),
  } as unknown as Queryable
  let running = [of(1), of(2)]
  const crashes = createCrashes({ state, log: quiet, runningOf: () => running.map(keyOfInstance) })
  for (let nth = 0; nth < 3; nth++) crashes.add({ ...LIVE, version: 1, instance: 1 }, END)
  for (let nth = 0; nth < 2; nth++) crashes.add(of(2), END)
  marked = 0
  crashes.add(of(2), END)
  assert.deepEqual([crashes.isLooping(LIVE), marked], [false, 0])
  for (let nth = 0; nth < 2; nth++) crashes.add(of(1), END)
  assert.deepEqual([crashes.isLooping(LIVE), marked], [false, 0])
  crashes.add(of(1), END)
  assert.deepEqual([crashes.isLooping(LIVE), marked], [true, 1])
  // One that serves beside them ends it, and what has ended is not counted.
  running = [of(1), of(2), of(3)]
  assert.equal(crashes.isLooping(LIVE), false)
  crashes.forget(LIVE.id)
  running = [of(1)]
  assert.equal(crashes.isLooping(LIVE), false)
})
