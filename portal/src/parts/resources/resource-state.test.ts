import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANGE_UNDER_WAY, HELD_WORDS, TRIED_AGAIN } from '#contract/resources/passing-reasons.ts'
import { reasonToTell } from './resource-state.ts'
import { canRollBack } from './versioned.ts'

test('reasonToTell() warns of no change under way, and of all else', () => {
  assert.equal(reasonToTell(CHANGE_UNDER_WAY), null)
  for (const reason of [TRIED_AGAIN, HELD_WORDS.budget, null])
    assert.equal(reasonToTell(reason), reason)
})

test('canRollBack() is true of kept versions that could start, and of none that is wanted already', () => {
  const version = (nth: number, failure: string | null = null) => ({
    version: nth,
    created_at: '2026-11-01T00:00:00Z',
    failure,
  })
  const versions = [version(3), version(2), version(1, 'its port is closed')]
  const one = { id: 'wl_1', name: 'web', status: 'failed', reason: null, versions } as const
  const offered = (live: number | null) =>
    versions
      .filter((each) => canRollBack({ ...one, version: 3, live_version: live }, each))
      .map((each) => each.version)
  assert.deepEqual([offered(null), offered(2), offered(3)], [[2], [], [2]])
})
