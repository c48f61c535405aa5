import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { busyOfLine, createBusyReader } from './busy.ts'

test('busyOfLine() counts user, nice, system and interrupts, not idle, iowait, steal or guests', () => {
  assert.equal(
    busyOfLine('cpu  100 20 30 100000 5000 4 6 777 50 10\ncpu0 1 2 3'),
    160n * 10_000_000n,
  )
  assert.throws(() => busyOfLine('cpu0 1 2 3 4 5 6 7 8'), /not a \/proc\/stat/)
})

test('the busy time of this machine grows by at least what this process uses', (t) => {
  const reader = createBusyReader()
  t.after(() => reader.close())
  const before = reader.busyNs()
  const start = process.cpuUsage()
  const used = () => {
    const usage = process.cpuUsage(start)
    return (usage.user + usage.system) * 1000
  }
  const block = Buffer.alloc(16_384)
  while (used() < 100_000_000) createHash('sha256').update(block).digest()
  const grown = reader.busyNs() - before
  // Ticks of 10 ms are counted per processor and per kind: allow a few of each.
  assert.ok(grown >= 40_000_000n, `${grown} ns`)
})
