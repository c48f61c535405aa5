import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoomChecks } from './room-checks.ts'

const MIB = 1_048_576
const disk = (freeMib: number, wholeMib: number) => ({
  bavail: freeMib * 256,
  blocks: wholeMib * 256,
  bsize: 4096,
})

test('files of volumes are checked when the disk moved, after five seconds, and after a change', () => {
  const clock = { ms: 0 }
  const checks = createRoomChecks(() => clock.ms)
  const free = (mib: number) => checks.isDue(disk(mib, 100_000))
  assert.ok(free(50_000), 'the first')
  checks.checked(disk(50_000, 100_000))
  assert.deepEqual([free(50_000), free(49_901), free(50_099)], [false, false, false])
  // A hundredth of the tenth that has what is written meanwhile.
  assert.deepEqual([free(49_899), free(50_101)], [true, true])
  clock.ms = 4999
  assert.equal(free(50_000), false)
  checks.changed()
  assert.equal(free(50_000), true)
  checks.checked(disk(50_000, 100_000))
  clock.ms = 10_000
  assert.equal(free(50_000), true)
})

test('on a small disk a MiB is what counts', () => {
  const checks = createRoomChecks(() => 0)
  checks.checked(disk(100, 200))
  assert.equal(checks.isDue({ ...disk(100, 200), bavail: 100 * 256 - (MIB / 4096 - 1) }), false)
  assert.equal(checks.isDue(disk(99, 200)), true)
})
