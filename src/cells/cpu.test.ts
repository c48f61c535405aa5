import assert from 'node:assert/strict'
import { test } from 'node:test'

import { usageNs } from './cgroup.ts'
import { parseBusyNs, readBusyNs } from './cpu.ts'

test('parseBusyNs() counts user, nice, system and interrupts, not idle, steal and guests', () => {
  const line = 'cpu  1 20 300 4000 50000 600000 7000000 80000000 900000000 1000000000'
  assert.equal(parseBusyNs(`${line}\ncpu0 1 1 1 1 1 1 1 1 1 1\n`), 7_600_321n * 10_000_000n)
})

test('readBusyNs() never goes back, and counts what this process uses', () => {
  const before = readBusyNs()
  const start = process.cpuUsage()
  const used = () => Object.values(process.cpuUsage(start)).reduce((sum, us) => sum + us)
  while (used() < 50_000);
  // Each of the two readings may be off by a tick per CPU.
  assert.ok(readBusyNs() - before >= 10_000_000n)
})

test('usageNs() reads the first line of cpu.stat and refuses other text', () => {
  assert.equal(usageNs('usage_usec 12\nuser_usec 7\nsystem_usec 5\n'), 12_000n)
  assert.throws(() => usageNs('user_usec 7\n'), /Not a cpu.stat/)
})
