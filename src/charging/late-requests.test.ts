import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATE_REQUESTS_MAX, LateRequests } from './late-requests.ts'

const NEVER = new AbortController().signal

/** A clock that a test sets, with at most one timer. */
function handClock() {
  const timers: { atMs: number; fire: () => void }[] = []
  let nowMs = 0
  return {
    timers,
    monotonicMs: () => nowMs,
    setTimer(ms: number, fire: () => void) {
      const timer = { atMs: nowMs + ms, fire }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), 1)
    },
    pass(ms: number) {
      nowMs += ms
      for (const timer of timers.filter(({ atMs }) => atMs <= nowMs)) {
        timers.splice(timers.indexOf(timer), 1)
        timer.fire()
      }
    },
  }
}

function waitOf(late: LateRequests, signal = NEVER) {
  const seen = { isOver: false }
  void late.wait(signal)?.then(() => (seen.isOver = true))
  return seen
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('requests wait a second at most, each from its own coming, with one timer', async () => {
  const clock = handClock()
  const late = new LateRequests(clock)
  const first = waitOf(late)
  clock.pass(400)
  const second = waitOf(late)
  assert.equal(clock.timers.length, 1)
  clock.pass(599)
  await turn()
  assert.deepEqual([first.isOver, second.isOver], [false, false])
  clock.pass(1)
  await turn()
  assert.deepEqual([first.isOver, second.isOver], [true, false])
  clock.pass(400)
  await turn()
  assert.deepEqual([second.isOver, late.size, clock.timers.length], [true, 0, 0])
})

test('all are let go together, and no timer is left', async () => {
  const clock = handClock()
  const late = new LateRequests(clock)
  const all = Array.from({ length: 3 }, () => waitOf(late))
  late.letGo()
  await turn()
  assert.ok(all.every(({ isOver }) => isOver))
  assert.deepEqual([late.size, clock.timers.length], [0, 0])
})

test('a request that ends waits no longer, and leaves its place', async () => {
  const late = new LateRequests(handClock())
  const client = new AbortController()
  const left = waitOf(late, client.signal)
  client.abort()
  await turn()
  assert.deepEqual([left.isOver, late.size], [true, 0])
  assert.equal(late.wait(client.signal), undefined)
})

test('beyond so many nobody waits', () => {
  const late = new LateRequests(handClock())
  for (let nth = 0; nth < LATE_REQUESTS_MAX; nth++) assert.ok(late.wait(NEVER))
  assert.equal(late.wait(NEVER), undefined)
  late.letGo()
  assert.ok(late.wait(NEVER))
})
