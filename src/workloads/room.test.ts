import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACCOUNT_INSTANCES_MAX } from '#contract/workloads/workload-limits.ts'
import { createRoom } from './room.ts'

const instance = Promise.reject(new Error('not asked'))
instance.catch(() => undefined)
const running = (...keys: readonly string[]) =>
  keys.map((key) => ({ key, id: 'wl_a', account: 'acct_a', instance, isServing: true }))

test('instances have the memory of the node together, and one that has ended leaves its part', () => {
  const room = createRoom(100_000_000)
  const take = (key: string, mb: number, ...others: readonly string[]) =>
    room.take(key, {
      account: 'acct_a',
      memoryBytes: mb * 1_000_000,
      running: running(key, ...others),
    })
  take('a', 60)
  assert.throws(() => take('b', 50, 'a'), {
    code: 'workload_busy',
    message: /needs 50 MB of memory, and 40 MB of the node's 100 MB are free/,
  })
  take('c', 40, 'a')
  // A further start of the same one has its own part again.
  take('a', 60, 'c')
  take('b', 50, 'c')
  assert.throws(() => take('d', 101), { code: 'workload_failed', message: /may use 101 MB/ })
})

test('an account has so many instances', () => {
  const room = createRoom(1e12)
  const keys = Array.from({ length: ACCOUNT_INSTANCES_MAX }, (_, nth) => String(nth))
  // All of them ask at once, and one more.
  const given = { account: 'acct_a', memoryBytes: 1, running: running(...keys, 'x') }
  for (const key of keys) room.take(key, given)
  assert.throws(() => room.take('x', given), {
    code: 'workload_busy',
    message: /its account has 50 instances/,
  })
})
