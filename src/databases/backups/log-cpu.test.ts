// The parts of the CPU of the process that stores logs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogCpu } from './log-cpu.ts'

const MS = 1_000_000

test('databases share the CPU between two readings by their bytes, and it adds up to the process', () => {
  let nowNs = 0
  const cpu = createLogCpu(() => nowNs)
  const [heavy, light, resting] = ['db-heavy', 'db-light', 'db-resting'].map((cell) =>
    cpu.begin(cell),
  )
  heavy?.piece()
  heavy?.bytes(4_000_000)
  heavy?.stored(4_000_000)
  nowNs += 50 * MS
  assert.deepEqual(cpu.totals(), { 'db-heavy': 50 * MS, 'db-light': 0, 'db-resting': 0 })
  heavy?.bytes(1_000_000)
  heavy?.stored(900_000)
  light?.piece()
  light?.bytes(0)
  nowNs += 16 * MS + 7
  const split = cpu.totals()
  // 6.2 ms of weight and 1.9.
  const part = 1.9 / 8.1
  assert.ok(Math.abs((split['db-light'] ?? 0) - part * (16 * MS + 7)) < 10)
  assert.equal((split['db-heavy'] ?? 0) + (split['db-light'] ?? 0), nowNs)
  // Nothing is stored: the operator pays.
  nowNs += 5 * MS
  assert.deepEqual(cpu.totals(), split)
  for (const work of [heavy, light, resting]) work?.end()
  assert.deepEqual(cpu.totals(), split)
})

test('the log that comes between two stores is work for its database', () => {
  let nowNs = 0
  const cpu = createLogCpu(() => nowNs)
  const [one, other] = ['db-one', 'db-other'].map((cell) => cpu.begin(cell))
  one?.heard(400)
  nowNs += 3 * MS
  assert.deepEqual(cpu.totals(), { 'db-one': 3 * MS, 'db-other': 0 })
  one?.heard(1000)
  other?.heard(1000)
  nowNs += 4 * MS
  assert.deepEqual(cpu.totals(), { 'db-one': 5 * MS, 'db-other': 2 * MS })
})
