import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRequestCounts, DURATIONS_S } from './request-counts.ts'

it('add() counts by operation, class of status and duration, and adds up tokens', () => {
  const counts = createRequestCounts()
  assert.deepEqual(counts.operations(), [])
  counts.add('chat.create', { status: 200, prompt_tokens: '9', completion_tokens: '2' }, 30)
  counts.add('chat.create', { status: 200, prompt_tokens: '1' }, 25)
  counts.add('chat.create', { status: 429 }, 0)
  counts.add('usage.last', { status: 503 }, 61_000)
  assert.equal(DURATIONS_S[1], 0.025)
  assert.deepEqual(counts.operations(), [
    {
      operation: 'chat.create',
      statuses: [0, 2, 0, 1, 0],
      durations: [1, 1, 1, 0, 0, 0, 0, 0],
      totalS: 0.055,
    },
    {
      operation: 'usage.last',
      statuses: [0, 0, 0, 0, 1],
      durations: [0, 0, 0, 0, 0, 0, 0, 1],
      totalS: 61,
    },
  ])
  assert.deepEqual(counts.tokens(), { prompt: 10, completion: 2 })
})
