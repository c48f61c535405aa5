import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Bag, type Bagged } from './bag.ts'

test('a bag holds what a set holds, whatever comes and goes', () => {
  const step = fc.record({ what: fc.nat(9), comes: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const things: Bagged[] = Array.from({ length: 10 }, () => ({ place: -1 }))
      const bag = new Bag<Bagged>()
      const set = new Set<Bagged>()
      for (const { what, comes } of steps) {
        const thing = things[what]
        if (thing === undefined) continue
        if (!comes) bag.delete(thing)
        else if (!set.has(thing)) bag.add(thing)
        if (comes) set.add(thing)
        else set.delete(thing)
        assert.equal(bag.size, set.size)
        assert.deepEqual(new Set(bag), set)
      }
    }),
  )
})

test('items may leave a bag while it is walked, and each is met once', () => {
  const bag = new Bag<Bagged>()
  const things: Bagged[] = Array.from({ length: 5 }, () => ({ place: -1 }))
  for (const thing of things) bag.add(thing)
  const met: Bagged[] = []
  for (const thing of bag) {
    met.push(thing)
    bag.delete(thing)
  }
  assert.deepEqual(met, things)
  assert.equal(bag.size, 0)
})
