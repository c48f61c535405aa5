// Progress of resources with versions, as an apply of a description file reads it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TRIED_AGAIN } from '#contract/resources/passing-reasons.ts'
import { progressOfVersions } from './stack-versions.ts'

const ASKED = { status: 'deployed', reason: null, version: 2, live_version: 2 }
const BROKEN = 'the image is not there'

test('progressOfVersions() waits while a further try runs, whatever the one before has said', () => {
  const again = { ...ASKED, status: 'deploying', live_version: null, reason: BROKEN }
  assert.equal(progressOfVersions(again), 'waiting')
})

test('progressOfVersions() has failed by a reason that the account must act on', () => {
  for (const status of ['failed', 'deployed', 'crash_loop', 'suspended'])
    assert.deepEqual(progressOfVersions({ ...ASKED, status, reason: BROKEN }), { failed: BROKEN })
  assert.equal(progressOfVersions({ ...ASKED, reason: TRIED_AGAIN }), 'waiting')
})

test('progressOfVersions() is ready when the wanted version is live, or its account has suspended it', () => {
  assert.equal(progressOfVersions(ASKED), 'ready')
  assert.equal(progressOfVersions({ ...ASKED, status: 'suspended', live_version: 1 }), 'ready')
  assert.equal(progressOfVersions({ ...ASKED, live_version: 1 }), 'waiting')
})
