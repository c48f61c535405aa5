import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRASHES_MAX, CRASHES_WITHIN_MS } from '#contract/workloads/workload-limits.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { createCrashes, STEADY_MS } from './crashes.ts'
import { keyOfInstance } from './versioned.ts'

const END = { exitCode: 3, words: 'it ended by exit code 3' }
const LIVE = { id: 'wl_a', version: 2 }
const of = (instance: number) => ({ ...LIVE, instance })

/** With a clock of its own, and a state that keeps what it is asked. */
function open(running: number[]) {
  const told: string[] = []
  const state = {
    async query(text: string) {
      told.push(/select (\w+)/.exec(text)?.[1] ?? '')
      return { rows: [], rowCount: 0 }
    },
  } as unknown as Queryable
  const now = { ms: 1000 }
  const clock = { monotonicMs: () => now.ms }
  const runningOf = () => running.map(of).map(keyOfInstance)
  return { crashes: createCrashes({ state, log: quiet, clock, runningOf }), told, now, running }
}

test('a workload is in a crash loop while all of its instances are, and others of its versions are not asked', () => {
  const { crashes, told, running } = open([1, 2])
  for (let nth = 0; nth < 3; nth++) crashes.add({ ...LIVE, version: 1, instance: 1 }, END)
  for (let nth = 0; nth < 2; nth++) crashes.add(of(2), END)
  told.length = 0
  crashes.add(of(2), END)
  assert.deepEqual([crashes.isLooping(LIVE), told], [false, []])
  for (let nth = 0; nth < 2; nth++) crashes.add(of(1), END)
  assert.deepEqual([crashes.isLooping(LIVE), told], [false, []])
  crashes.add(of(1), END)
  assert.deepEqual([crashes.isLooping(LIVE), told], [true, ['mark_crash_loop']])
  // One that serves beside them ends it, and what has ended is not counted.
  running.push(3)
  assert.equal(crashes.isLooping(LIVE), false)
  crashes.forget(LIVE.id)
  running.splice(1)
  assert.equal(crashes.isLooping(LIVE), false)
})

test('ends that are further apart are no crash loop', () => {
  const endedEach = (ms: number) => {
    const { crashes, now } = open([1])
    for (let nth = 0; nth < CRASHES_MAX; nth++) {
      crashes.add(of(1), END)
      now.ms += ms
    }
    return crashes.isLooping(LIVE)
  }
  const each = CRASHES_WITHIN_MS / (CRASHES_MAX - 1)
  assert.deepEqual([endedEach(each), endedEach(each + 1)], [true, false])
})

test('a crash loop is over ten minutes after the last end, and after a start of the agent', async () => {
  const { crashes, told, now } = open([1])
  const lookAfter = async (ms: number) => {
    now.ms += ms
    told.length = 0
    await crashes.endIfSteady(LIVE)
    return told.length
  }
  assert.deepEqual([await lookAfter(STEADY_MS - 1), await lookAfter(1)], [0, 1])
  for (let nth = 0; nth < CRASHES_MAX; nth++) crashes.add(of(1), END)
  assert.deepEqual([await lookAfter(STEADY_MS - 1), crashes.isLooping(LIVE)], [0, true])
  assert.deepEqual([await lookAfter(1), crashes.isLooping(LIVE)], [1, false])
})
