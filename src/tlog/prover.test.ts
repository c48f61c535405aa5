import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sha256 } from './leaf.ts'
import { createProver } from './prover.ts'
import { EMPTY_EDGE, extendTiles, inclusionProof, type Tile, type TileReader } from './tiles.ts'

/** A tree of some size, and a reader that counts what it reads. */
function treeOf(size: number) {
  const leaves = Array.from({ length: size }, (_, nth) => sha256(Buffer.from(String(nth))))
  const { written } = extendTiles(EMPTY_EDGE, leaves)
  let reads = 0
  const read: TileReader = async (wanted) => {
    reads += wanted.length
    return wanted.flatMap(({ level, index }): Tile[] =>
      written.filter((tile) => tile.level === level && tile.index === index),
    )
  }
  return { read, reads: () => reads }
}

test('createProver() makes the proofs that inclusionProof() makes', async () => {
  const { read } = treeOf(70_000)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 70_000 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
      async (size, places) => {
        const indices = places.map((place) => place % size)
        const prover = createProver(size, read)
        for (const half of [indices.slice(0, 5), indices.slice(5)])
          assert.deepEqual(
            await prover.prove(half),
            await Promise.all(half.map((index) => inclusionProof(index, size, read))),
          )
      },
    ),
    { numRuns: 30 },
  )
})

test('a tile is read once for all leaves in it, and a missing one is an error', async () => {
  const { read, reads } = treeOf(512)
  const prover = createProver(512, read)
  const all = (first: number) => Array.from({ length: 256 }, (_, nth) => first + nth)
  await prover.prove(all(0))
  await prover.prove(all(0))
  assert.equal(reads(), 2)
  await assert.rejects(createProver(513, read).prove([0]), /tile\/0\/002 covers/)
})
