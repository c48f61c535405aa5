// Limits of cells: files, processes, memory and processors.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cell } from './cell.ts'
import { findCgroups } from './cgroup.ts'
import { eventually } from './testing/harness.ts'
import { lastExit, openPlace, ROOT, scriptSpec } from './testing/script-cells.ts'

test('limits of files, processes and memory hold', ROOT, async (t) => {
  const { cells, where } = await openPlace(t)
  const { isolation } = cells
  if (isolation.memoryLimit === 'none') return t.skip('no memory controller here')
  const files = await cells.start(
    scriptSpec(where, 'test "$(ulimit -n)" = 77 && exit 9', { limits: { files: 77 } }),
  )
  await eventually(() => files.exits.length > 0)
  assert.equal(files.exits[0]?.code, 9)
  await files.stop()

  const takes = await cells.start(
    scriptSpec(where, 'dd if=/dev/zero of=/dev/null bs=99M count=1 2>/dev/null || exit 9', {
      limits: { processMemoryBytes: 80e6 },
    }),
  )
  await eventually(() => takes.exits.length > 0)
  assert.equal(takes.exits[0]?.code, 9)
  await takes.stop()

  const fork = 'for n in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; exit 0'
  const processes = await cells.start(scriptSpec(where, fork, { limits: { processes: 8 } }))
  await eventually(() => processes.exits.length > 0)
  assert.equal(processes.exits[0]?.code, 2)
  await processes.stop()

  const eat = [
    process.execPath,
    '-e',
    'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))',
  ] as const
  const memory = await cells.start(
    scriptSpec(where, '', { argv: eat, limits: { memoryBytes: 150e6 } }),
  )
  await eventually(() => memory.exits.length > 0)
  assert.equal(lastExit(cells)?.signal, 'SIGKILL')
})

test('a limit of processors holds for all processes of a cell together', ROOT, async (t) => {
  const { cells, where } = await openPlace(t)
  if (cells.isolation.cpuLimit === 'none') return t.skip('no cpu controller here')
  const burn = 'while :; do :; done & while :; do :; done'
  const cell = await cells.start(scriptSpec(where, burn, { limits: { cpuMilli: 50 } }))
  await eventually(() => cell.cpuNs() > 0n)
  const begun = performance.now()
  const before = cell.cpuNs()
  await pause(2000)
  const usedMs = Number(cell.cpuNs() - before) / 1e6
  const passedMs = performance.now() - begun
  assert.ok(usedMs < passedMs * 0.1, `${usedMs} ms in ${passedMs} ms`)
  await cell.stop()
})

test(
  'the processors of a cell of an account are limited while it runs, and no more',
  ROOT,
  async (t) => {
    const { cells, where } = await openPlace(t)
    if (cells.isolation.cpuLimit === 'none') return t.skip('no cpu controller here')
    const payer = { kind: 'account', account: 'acct_1' } as const
    for (const cpuMilli of [undefined, 500]) {
      const limits = cpuMilli === undefined ? {} : { cpuMilli }
      const cell = await cells.start(scriptSpec(where, 'while :; do :; done', { limits, payer }))
      await eventually(() => cell.cpuNs() > 0n)
      cell.limitCpu('energy', 50)
      const begun = performance.now()
      const before = cell.cpuNs()
      await pause(2000)
      const usedMs = Number(cell.cpuNs() - before) / 1e6
      const passedMs = performance.now() - begun
      assert.ok(usedMs < passedMs * 0.1, `${usedMs} ms in ${passedMs} ms`)
      assert.equal(limitOf(cell), 50)
      cell.limitCpu('energy', undefined)
      assert.equal(limitOf(cell), cpuMilli)
      await cell.stop()
    }
  },
)

/** Thousandths of a processor; undefined where nothing limits. */
function limitOf({ pid }: Pick<Cell, 'pid'>): number | undefined {
  const { cpu, unified = '' } = findCgroups()
  const line = cpu === undefined ? /^0::(.*)$/m : /^\d+:cpu:(.*)$/m
  const pathOf = (of: string) => line.exec(readFileSync(`/proc/${of}/cgroup`, 'utf8'))?.[1] ?? ''
  const own = pathOf('self')
  const path = pathOf(String(pid)).slice(own === '/' ? 0 : own.length)
  const read = (folder: string, file: string) => readFileSync(join(folder, path, file), 'utf8')
  const [quota, period] =
    cpu === undefined
      ? read(unified, 'cpu.max').split(' ').map(Number)
      : [read(cpu, 'cpu.cfs_quota_us'), read(cpu, 'cpu.cfs_period_us')].map(Number)
  return Number(quota) > 0 ? (1000 * Number(quota)) / Number(period) : undefined
}
