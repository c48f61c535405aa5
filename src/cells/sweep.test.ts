import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { sweepGroups } from './sweep.ts'

test('a control group that an engine removes meanwhile is no fault of a sweep', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'ergon-sweep-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'cells')
  // A folder without cgroup.procs answers as one that has gone: ENOENT.
  mkdirSync(join(folder, 'gone'), { recursive: true })
  assert.deepEqual(await sweepGroups([folder], systemClock), [])
  assert.equal(existsSync(folder), false)
})
