import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { counterMemory, countOwnCpu, ownCpuNs, readCounter } from './own-cpu.ts'

test('a counter begins at nothing, and says whether its thread counts', () => {
  const memory = counterMemory()
  const counter = readCounter(memory)
  assert.deepEqual([counter.counts(), counter.countedNs()], [false, 0])
  let now = 70_000_000
  const count = countOwnCpu(memory, () => now)
  assert.deepEqual([counter.counts(), counter.countedNs()], [true, 0])
  now += 5000
  assert.equal(counter.countedNs(), 0)
  assert.equal(count(), 5000)
  assert.equal(counter.countedNs(), 5000)
})

test('counts equal readings, also as 32 bits turn over and when the clock goes back', () => {
  const stepsNs = fc.array(fc.integer({ min: -2, max: 3_000_000_000 }).map((us) => us * 1000))
  fc.assert(
    fc.property(stepsNs, (steps) => {
      const memory = counterMemory()
      const counter = readCounter(memory)
      let now = 0
      let greatest = 0
      let counted = 0
      const count = countOwnCpu(memory, () => now)
      for (const step of steps) {
        now += step
        greatest = Math.max(greatest, now)
        counted += count()
        assert.equal(counter.countedNs(), counted)
        assert.equal(counted, greatest)
      }
    }),
  )
})

test('ownCpuNs() sees work that takes less than a tick of the scheduler', () => {
  const block = Buffer.alloc(65_536)
  for (let round = 0; round < 50; round++) {
    const before = ownCpuNs()
    for (let i = 0; i < 4; i++) createHash('md5').update(block).digest()
    assert.ok(ownCpuNs() > before)
  }
})
