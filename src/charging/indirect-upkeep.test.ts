// Upkeep is the operator's: requests that run in the same seconds pay for no part of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  MINUTE,
  randomOf,
  REST,
  shareOf,
  TestNode,
  type SimulatedUpkeep,
} from './indirect.fixture.ts'

const [PUT, GET] = ['storage.put-object', 'storage.get-object'] as const
const TRUTH = {
  [PUT]: { directMs: 4, indirectMs: 2 },
  [GET]: { directMs: 1.7, indirectMs: 0.5 },
}
const LOAD = { [PUT]: 20, [GET]: 40 }
const SEEDS = [1, 2, 3, 4, 5]
/** A third of its CPU in its own process. The state has so much CPU for each second of statements. */
const upkeepOf =
  (cpuMs: number, part: number): (() => SimulatedUpkeep) =>
  () => ({ ownMs: cpuMs / 3, cpuMs, statementMs: cpuMs / part })

type Run = { readonly cpuMs: number; readonly part: number; readonly isUpkeepHidden?: boolean }

/** The least and the most billed percentage of five minutes with steady upkeep, over all seeds. */
function sharesOf({ cpuMs, part, isUpkeepHidden = false }: Run): readonly [number, number] {
  const shares = SEEDS.map((seed) => {
    const random = randomOf(seed)
    const node = new TestNode({ truth: TRUTH, ...REST, random, isUpkeepHidden })
    node.run(MINUTE)
    node.run(MINUTE, LOAD)
    node.upkeep = upkeepOf(cpuMs, part)
    return shareOf(node.run(5 * MINUTE, LOAD))
  })
  return [Math.min(...shares), Math.max(...shares)]
}

test('upkeep in each second of a load is on nobody’s bill', () => {
  for (const cpuMs of [30, 100, 300])
    for (const part of [0.3, 0.7, 1]) {
      const [least, most] = sharesOf({ cpuMs, part })
      const facts = `${cpuMs} ms, ${part}: ${least.toFixed(1)} to ${most.toFixed(1)} %`
      assert.ok(least > 88 && most <= 101, facts)
    }
})

test('planted: upkeep of which the agent knows nothing is on the bills of requests', () => {
  const [, most] = sharesOf({ cpuMs: 100, part: 0.7, isUpkeepHidden: true })
  assert.ok(most > 105, `${most.toFixed(1)} %`)
})

test('upkeep that runs some seconds of each minute is on nobody’s bill', () => {
  for (const seed of SEEDS) {
    const random = randomOf(seed)
    const node = new TestNode({ truth: TRUTH, ...REST, random })
    let second = 0
    const [calm, busy] = [upkeepOf(0, 1), upkeepOf(250, 0.6)]
    node.upkeep = () => (second++ % MINUTE < 8 ? busy() : calm())
    node.run(MINUTE)
    node.run(MINUTE, LOAD)
    const share = shareOf(node.run(5 * MINUTE, LOAD))
    assert.ok(share > 90 && share <= 100.5, `${share.toFixed(1)} %, seed ${seed}`)
  }
})
