import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LeafPage } from './leaf-page.ts'

const leaf = fc
  .tuple(fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }), fc.uint8Array({ maxLength: 60 }))
  .map(([accountSeq, bytes]) => ({ accountSeq, bytes: Buffer.from(bytes) }))

test('a page gives back its leaves, all of them or some', () => {
  fc.assert(
    fc.property(fc.array(leaf, { maxLength: 12 }), fc.nat(14), fc.nat(14), (leaves, from, to) => {
      const page = LeafPage.of(leaves)
      assert.equal(page.count, leaves.length)
      assert.deepEqual(page.leaves(), leaves)
      assert.deepEqual(page.leaves(from, to), leaves.slice(from, to))
    }),
  )
})
