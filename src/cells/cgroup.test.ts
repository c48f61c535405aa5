import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createCgroup, findCgroups } from './cgroup.ts'

test('a limit above the limit of a group around a cell is none, and no error', async (t) => {
  const { cpu, unified } = process.geteuid?.() === 0 ? findCgroups() : {}
  if (cpu === undefined || unified === undefined) return t.skip('needs root and version 1 for cpu')
  const name = `ergon-test-${process.pid}`
  const around = join(cpu, name)
  mkdirSync(around)
  try {
    // As `docker run --cpus=1.5` does it.
    writeFileSync(join(around, 'cpu.cfs_quota_us'), '150000')
    const folders = { unified: join(unified, name), cpu: join(around, 'cell') }
    const group = createCgroup(folders, { mayLimitCpu: true }, systemClock)
    try {
      const quota = () => readFileSync(join(folders.cpu, 'cpu.cfs_quota_us'), 'utf8').trim()
      group.limitCpu('energy', 500)
      assert.equal(quota(), '5000')
      const period = () => readFileSync(join(folders.cpu, 'cpu.cfs_period_us'), 'utf8').trim()
      assert.equal(period(), '10000')
      group.limitCpu('size', 50)
      assert.deepEqual([quota(), period()], ['1000', '20000'], 'the least of two causes holds')
      group.limitCpu('size', undefined)
      assert.equal(quota(), '5000')
      group.limitCpu('energy', 3333)
      assert.equal(quota(), '-1')
    } finally {
      await group.remove()
    }
  } finally {
    rmdirSync(around)
  }
})
