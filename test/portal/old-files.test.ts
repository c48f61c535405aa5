// A folder of many builds stays below the number of files that the service reads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesToRemove } from '../../portal/old-files.ts'

const FILES_MAX = 3000
const HOUR_MS = 3_600_000

/** Each build has files of its own. */
const filesOf = (build: number, changedMs: number) =>
  Array.from({ length: 600 }, (_, nth) => ({ name: `assets/${build}-${nth}.js`, changedMs }))

test('files of earlier builds stay for a day, the newest first, up to a number', () => {
  const nowMs = 100 * HOUR_MS
  const newest = filesOf(0, nowMs)
  const names = new Set(newest.map(({ name }) => name))
  const yesterday = filesOf(1, nowMs - 25 * HOUR_MS)
  assert.deepEqual(
    filesToRemove([...newest, ...yesterday], names, nowMs).length,
    yesterday.length,
    'older than a day',
  )
  const today = [7, 3, 1, 5, 2, 4, 6].flatMap((hours) => filesOf(hours, nowMs - hours * HOUR_MS))
  const removed = new Set(filesToRemove([...newest, ...today], names, nowMs))
  assert.equal(newest.length + today.length - removed.size, FILES_MAX)
  for (const { name } of [...newest, ...filesOf(1, 0), ...filesOf(4, 0)])
    assert.ok(!removed.has(name), name)
  for (const { name } of filesOf(5, 0)) assert.ok(removed.has(name), name)
})
