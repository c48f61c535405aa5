import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chain, Steps, stepsOf } from './steps.ts'

class Counted extends Steps<number> {
  disposals = 0
  #left = 3

  next(): number | undefined | Promise<number | undefined> {
    const step = this.#left === 0 ? undefined : this.#left--
    return step === 2 ? Promise.resolve(step) : step
  }

  dispose(): void {
    this.disposals++
  }
}

test('steps that are there and steps that are waited for are read in order, then let go', async () => {
  const steps = new Counted()
  const read: number[] = []
  for await (const step of steps) read.push(step)
  assert.deepEqual([read, steps.disposals], [[3, 2, 1], 1])
})

test('steps are let go when their reader leaves early', async () => {
  const steps = new Counted()
  for await (const _ of steps) break
  assert.equal(steps.disposals, 1)
  assert.equal(stepsOf(steps), steps)
})

test('an async iterable is steps, and ends when it is disposed of', async () => {
  let isOver = false
  async function* made() {
    try {
      yield 'a'
      yield 'b'
    } finally {
      isOver = true
    }
  }
  const steps = stepsOf(made())
  assert.equal(await steps.next(), 'a')
  await steps.dispose()
  assert.equal(isOver, true)
})

test('chain() goes on at once with a value that is there', async () => {
  const double = (value: number) => value * 2
  assert.equal(chain(21, double), 42)
  assert.equal(await chain(Promise.resolve(21), double), 42)
})
