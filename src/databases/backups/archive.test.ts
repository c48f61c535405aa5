// The pauses between tries to store a log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import { keepFollowing } from './archive.ts'

test('a store that refuses is asked more and more rarely, and again at once behind a stored piece', async () => {
  const ending = new AbortController()
  const pauses: number[] = []
  const TRIES = 10
  const STORES_AT = 8
  await keepFollowing(
    async (stored) => {
      if (pauses.length === STORES_AT) stored()
      throw new Error('the store is away')
    },
    { id: 'db_a', log: quiet, signal: ending.signal },
    async (ms) => {
      if (pauses.push(ms) === TRIES) ending.abort()
    },
  )
  assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 100, 200])
})
