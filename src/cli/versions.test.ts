import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANGE_UNDER_WAY } from '#contract/resources/passing-reasons.ts'
import { waitForVersion, type VersionedResource } from './versions.ts'

const COMMANDS = { show: 'show', logs: 'logs', resume: 'resume' }
const shown = (live: number | null, reason: string | null): VersionedResource => ({
  name: 'hello',
  status: 'deployed',
  reason,
  version: 2,
  live_version: live,
  versions: [],
  energy_budget: null,
  energy_budget_used_j: null,
})

test('waitForVersion() waits until the change is over: requests go to the version then', async () => {
  const answers = [shown(1, CHANGE_UNDER_WAY), shown(2, CHANGE_UNDER_WAY), shown(2, null)]
  const last = answers.at(-1)
  assert.equal(
    await waitForVersion(async () => answers.shift() ?? shown(null, null), COMMANDS, 2),
    last,
  )
})
