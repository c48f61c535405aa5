import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGpuTimer, NO_GPU } from './gpu-timer.ts'

function rig() {
  let ns = 1000n
  const timer = createGpuTimer(() => ns)
  return { timer, pass: (more: bigint) => void (ns += more) }
}

test('a step lasts from its batch to the first token that is sampled', () => {
  const { timer, pass } = rig()
  pass(5n)
  timer.begin()
  pass(30n)
  timer.end()
  pass(7n)
  timer.end()
  assert.equal(timer.takeNs(), 30n)
  assert.equal(timer.takeNs(), 0n)
})

test('a step is counted while it runs, and nothing of it twice', () => {
  const { timer, pass } = rig()
  timer.begin()
  pass(10n)
  assert.equal(timer.takeNs(), 10n)
  pass(4n)
  timer.end()
  assert.equal(timer.takeNs(), 4n)
})

test('a step without a token ends with the next batch, or when nobody waits for one', async () => {
  const { timer, pass } = rig()
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const both = [timer.during(one.promise), timer.during(other.promise)]
  timer.begin()
  pass(10n)
  one.resolve()
  await both[0]
  pass(2n)
  timer.begin()
  pass(5n)
  other.reject(new Error('left'))
  await assert.rejects(both[1] ?? Promise.resolve(), /left/)
  // A caller that reads slowly keeps nothing busy.
  pass(1000n)
  assert.equal(timer.takeNs(), 17n)
})

test('an engine on the CPU has no such time', async () => {
  NO_GPU.begin()
  assert.equal(await NO_GPU.during(Promise.resolve(3)), 3)
  assert.equal(NO_GPU.takeNs(), 0n)
  assert.equal(NO_GPU.isUsed, false)
})
