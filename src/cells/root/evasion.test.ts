// Programs that hide their CPU are billed for it: what the cell has counted is at least what its processes say of themselves.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { runOnce, type RunOptions } from '#cells/testing/run-once.ts'

const SEEN_MIN = 0.99
const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }

const EVASIONS = [
  'one process',
  'a child that is waited for',
  'a child that nobody waits for',
  'a double fork',
  'a session of its own',
  'children that vanish',
  'many short processes',
  'two at once',
  'work after the end',
  'a chain of programs',
  'work in the kernel',
  'a name of another',
]

const FOLDER = join(import.meta.dirname, '../testing')
const PROGRAMS = join(FOLDER, 'evasions.pl')

/** The CPU that the processes of a program say they have used, and what the cell has counted. */
async function measure(name: string, more: Partial<RunOptions> = {}) {
  const argv = ['/usr/bin/perl', PROGRAMS, name] as const
  const report = await runOnce({ level: 'root', argv, reads: [FOLDER], ...more })
  const saidMs = report.lines.reduce((sum, line) => sum + Number(line), 0)
  assert.ok(saidMs >= 100, report.lines.join(' '))
  return { saidMs, countedMs: report.cpuMs, seen: report.cpuMs / saidMs }
}

for (const name of EVASIONS)
  test(`the CPU of ${name} is counted`, ROOT, async () => {
    const { seen, saidMs } = await measure(name, { root: {}, meter: 'cgroup-v2' })
    assert.ok(seen >= SEEN_MIN, `${seen} of ${saidMs} ms`)
  })

for (const name of ['a double fork', 'children that vanish'])
  test(`the CPU of ${name} is counted in the process of a spare`, ROOT, async () => {
    const { seen, saidMs } = await measure(name, { root: {}, meter: 'cgroup-v2', inSpare: true })
    assert.ok(seen >= SEEN_MIN, `${seen} of ${saidMs} ms`)
  })

test(
  'planted fault: a scan of processes misses children that vanish, so it admits no tenants',
  ROOT,
  async () => {
    const { seen } = await measure('children that vanish', { meter: 'process-tree' })
    assert.ok(seen < SEEN_MIN)
    await assert.rejects(measure('one process', { root: {}, meter: 'process-tree' }), {
      message: 'This machine cannot isolate the code of tenants: once',
    })
  },
)

test('a scan of processes counts nothing twice', ROOT, async () => {
  const { countedMs, saidMs } = await measure('a child that nobody waits for', {
    meter: 'process-tree',
  })
  assert.ok(countedMs < 1.5 * saidMs, `${countedMs} of ${saidMs} ms`)
})
