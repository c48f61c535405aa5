// Care on a clock of its own, whose work ends when the test says so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createCare } from './care.ts'

const { signal } = new AbortController()
const of = (account: string, nth = 1) => ({ id: `${account} ${nth}`, account, name: 'web' })

function open() {
  let nowMs = 1_000_000
  const begun: string[] = []
  const ends = new Map<string, (isFine: boolean) => void>()
  const care = createCare({
    clock: { monotonicMs: () => nowMs },
    work({ id }) {
      begun.push(id)
      const { promise, resolve } = Promise.withResolvers<boolean>()
      ends.set(id, resolve)
      return promise
    },
  })
  return {
    ...care,
    begun,
    /** Ends one after some time. */
    async end(id: string, isFine: boolean, afterMs = 0) {
      nowMs += afterMs
      ends.get(id)?.(isFine)
      await turn()
    },
    wait: (ms: number) => void (nowMs += ms),
  }
}

test('care of a workload that hangs holds up neither other accounts nor the next call', async () => {
  const { begin, begun, end } = open()
  begin([of('a', 1), of('a', 2), of('b', 1), of('b', 2)], signal)
  assert.deepEqual(begun, ['a 1', 'b 1'])
  await end('b 1', true)
  assert.deepEqual(begun, ['a 1', 'b 1', 'b 2'])
  begin([of('a', 1), of('c')], signal)
  assert.deepEqual(begun.slice(3), ['c 1'])
})

test('care of eight accounts goes on at once, and the ninth takes the first free place', async () => {
  const { begin, begun, end } = open()
  const all = Array.from({ length: 9 }, (_, nth) => of(`a${nth}`))
  begin(all, signal)
  assert.equal(begun.length, 8)
  await end('a3 1', true)
  assert.deepEqual(begun.slice(8), ['a8 1'])
})

test('care that fails rests longer each time, and comes after the others of its account', async () => {
  const { begin, begun, end, wait } = open()
  const all = [of('a', 1), of('a', 2)]
  begin([of('a', 1)], signal)
  // The workload is in work.
  begin([of('a', 1)], signal)
  await end('a 1', false, 100_000)
  assert.equal(begun.length, 1)
  begin([of('a', 1)], signal)
  assert.equal(begun.length, 1)
  wait(100_000)
  begin(all, signal)
  assert.deepEqual(begun.slice(1), ['a 2'])
  await end('a 2', true)
  assert.deepEqual(begun.slice(2), ['a 1'])
  await end('a 1', false, 100_000)
  wait(199_999)
  begin([of('a', 1)], signal)
  assert.equal(begun.length, 3)
  wait(1)
  begin([of('a', 1)], signal)
  assert.equal(begun.length, 4)
  await end('a 1', true)
  begin([of('a', 1)], signal)
  assert.equal(begun.length, 5)
})

test('care that waits does not begin after the end, and the end waits for what goes on', async () => {
  const { begin, begun, end, idle } = open()
  const ending = new AbortController()
  begin([of('a', 1), of('a', 2)], ending.signal)
  ending.abort()
  const idled = idle()
  await end('a 1', true)
  await idled
  assert.deepEqual(begun, ['a 1'])
})
