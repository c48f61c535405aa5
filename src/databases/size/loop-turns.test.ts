import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoopTurns } from './loop-turns.ts'

/** Keeps the thread busy. */
function spin(ms: number): void {
  const lastMs = performance.now() + ms
  while (performance.now() < lastMs);
}

test('long works have one turn each, one in each round of the event loop', async () => {
  const turns = createLoopTurns()
  const order: string[] = []
  let rounds = 0
  let isWorking = true
  const count = () => {
    rounds++
    if (isWorking) setImmediate(count)
  }
  setImmediate(count)
  const work = async (name: string): Promise<void> => {
    const turn = turns.begin()
    for (let nth = 0; nth < 4; nth++) {
      while (!turn.isOver()) spin(1)
      order.push(name)
      await turn.next()
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  isWorking = false
  assert.equal(order.join(''), 'abcabcabcabc')
  assert.ok(rounds >= 12, `${rounds} rounds of the loop`)
})
