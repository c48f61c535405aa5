import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
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

test('groups that an engine makes are slowed, also one that is made later, and get their limit back', async (t) => {
  const { cpu, unified } = process.geteuid?.() === 0 ? findCgroups() : {}
  if (cpu === undefined || unified === undefined) return t.skip('needs root and version 1 for cpu')
  const name = `ergon-engine-${process.pid}`
  const around = join(cpu, name)
  const container = join(around, 'container')
  let missing: string[] = []
  /** As engines do it. */
  const start = () => {
    mkdirSync(container, { recursive: true })
    writeFileSync(join(container, 'cpu.cfs_quota_us'), '100000')
  }
  const found = () =>
    ['quota', 'period'].map((kind) =>
      readFileSync(join(container, `cpu.cfs_${kind}_us`), 'utf8').trim(),
    )
  const folders = {
    unified: join(unified, name),
    engineCpu: () => [
      ...missing,
      ...(readdirSync(around).includes('container') ? [container] : []),
    ],
  }
  start()
  const group = createCgroup(folders, { cpuMilli: 1000 }, systemClock)
  try {
    group.limitCpu('energy', 500)
    assert.deepEqual(found(), ['5000', '10000'])
    rmdirSync(container)
    start()
    group.limitStarted()
    assert.deepEqual(found(), ['5000', '10000'])
    group.limitCpu('energy', undefined)
    assert.deepEqual(found(), ['100000', '100000'])
    // The engine removes a group between the listing and the write.
    missing = [join(around, 'gone')]
    group.limitCpu('energy', 500)
    assert.deepEqual(found(), ['5000', '10000'])
  } finally {
    await group.remove()
    rmdirSync(container)
    rmdirSync(around)
  }
})
