import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANGE_UNDER_WAY, HELD_WORDS, TRIED_AGAIN } from '#contract/resources/passing-reasons.ts'
import { reasonToTell } from './resource-state.ts'

test('reasonToTell() warns of no change under way, and of all else', () => {
  assert.equal(reasonToTell(CHANGE_UNDER_WAY), null)
  for (const reason of [TRIED_AGAIN, HELD_WORDS.budget, null])
    assert.equal(reasonToTell(reason), reason)
})
