// Orders and cycles of random graphs, against their definitions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ordered } from './ordered.ts'

const graphs = fc
  .array(fc.array(fc.nat(9), { maxLength: 4 }), { maxLength: 10 })
  .map(
    (lists) => new Map(lists.map((list, at) => [`n${at}`, new Set(list.map((one) => `n${one}`))])),
  )

test('ordered() has every node once, and each after its needs unless there is a cycle', () => {
  fc.assert(
    fc.property(graphs, (needs) => {
      const { order, cycles } = ordered(needs)
      assert.deepEqual(order.toSorted(), [...needs.keys()].toSorted())
      for (const cycle of cycles) {
        assert.equal(cycle[0], cycle.at(-1))
        for (const [at, node] of cycle.slice(0, -1).entries())
          assert.ok(needs.get(node)?.has(cycle[at + 1] ?? ''), cycle.join(' '))
      }
      if (cycles.length > 0) return
      for (const [at, node] of order.entries())
        for (const need of needs.get(node) ?? [])
          assert.ok(!needs.has(need) || order.indexOf(need) < at, `${node} before ${need}`)
    }),
  )
})

test('ordered() names the cycle, and takes a chain of any length', () => {
  assert.deepEqual(
    ordered(
      new Map([
        ['a', new Set(['b'])],
        ['b', new Set(['c'])],
        ['c', new Set(['b'])],
      ]),
    ).cycles,
    [['b', 'c', 'b']],
  )
  const chain = new Map(
    Array.from({ length: 100_000 }, (_, at) => [`${at}`, new Set([`${at + 1}`])]),
  )
  assert.equal(ordered(chain).order[0], '99999')
})
