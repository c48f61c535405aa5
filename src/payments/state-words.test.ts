import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stateWords } from './state-words.ts'

test('stateWords() says when an unused hold ends by itself, and of others their state', () => {
  assert.equal(
    stateWords({ status: 'authorized', held_until: '2026-12-03T10:00:00.000Z' }),
    'it is a hold, which ends by itself on 2026-12-02 unless a cent of it is spent',
  )
  assert.equal(stateWords({ status: 'failed', held_until: null }), 'the payment is failed')
})
