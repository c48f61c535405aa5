import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { makeTestFolder, testPlace } from './testing-place.ts'

const MEMORY = '/dev/shm'
const place = testPlace({ fsync: 'off' })

test('testPlace() is the disk for a cluster that syncs, or that has room for a long log', () => {
  assert.equal(testPlace({}), tmpdir())
  assert.equal(testPlace({ fsync: 'off', max_wal_size: '2GB' }), tmpdir())
})

test(
  'testPlace() removes what a process that is gone left in memory, after an hour, and nothing else',
  { skip: place === MEMORY ? false : 'no room in memory' },
  (t) => {
    // No process has a number beyond the limit of Linux, 2^22.
    const folderOf = (pid: number) => `${MEMORY}/ergon-pg-${pid}-test`
    const [old, fresh, alive] = [folderOf(5_000_001), folderOf(5_000_002), makeTestFolder(MEMORY)]
    t.after(() =>
      [old, fresh, alive].forEach((path) => rmSync(path, { recursive: true, force: true })),
    )
    for (const path of [old, fresh]) mkdirSync(path)
    const before = new Date(Date.now() - 2 * 3_600_000)
    for (const path of [old, alive]) utimesSync(path, before, before)
    testPlace({ fsync: 'off' })
    assert.deepEqual(
      [old, fresh, alive].map((path) => existsSync(path)),
      [false, true, true],
    )
  },
)
