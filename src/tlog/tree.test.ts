import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_ROOT, leafHash, nodeHash } from './leaf.ts'
import {
  consistencyRanges,
  EMPTY_FRONTIER,
  extend,
  frontierRoot,
  inclusionRanges,
  inclusionRoot,
  isConsistent,
  isFrontier,
  rangeHash,
  type LeafRange,
} from './tree.ts'

// The eight entries, roots and proofs that implementations of RFC 6962 have tested against since the
// reference log of Certificate Transparency.
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => leafHash(Buffer.from(hex, 'hex')))
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

/** MTH of RFC 6962 §2.1, word for word: what everything else is compared with. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves
  if (only === undefined) return EMPTY_ROOT
  if (leaves.length === 1) return only
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return nodeHash(naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)))
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => leafHash(Buffer.from(`entry ${index}`)))

// Every complete subtree of some leaves, so that 300 × 300 proofs cost one hash each.
function subtreesOf(leaves: readonly Buffer[]) {
  const levels = [[...leaves]]
  for (let row = levels[0]!; row.length > 1; row = levels.at(-1)!)
    levels.push(
      Array.from({ length: Math.floor(row.length / 2) }, (_, i) =>
        nodeHash(row[2 * i]!, row[2 * i + 1]!),
      ),
    )
  return (range: LeafRange) => rangeHash(range, (level, index) => levels[level]![index]!)
}

test('frontierRoot() gives the known roots of RFC 6962 trees of 0 to 8 leaves', () => {
  equal(
    frontierRoot(EMPTY_FRONTIER).toString('hex'),
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
  ROOTS.forEach((root, nth) => {
    const leaves = ENTRIES.slice(0, nth + 1)
    equal(frontierRoot(extend(EMPTY_FRONTIER, leaves)).toString('hex'), root)
    equal(naiveRoot(leaves).toString('hex'), root)
  })
})

test('inclusionRanges() gives the known proofs of the 8-leaf tree', () => {
  const hashOf = subtreesOf(ENTRIES)
  const path = (index: number, size: number) =>
    inclusionRanges(index, size).map((range) => hashOf(range).toString('hex'))
  deepEqual(path(0, 8), [
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ])
  deepEqual(path(5, 8), [
    'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ])
  deepEqual(path(2, 3), ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'])
})

test('consistencyRanges() gives the known proofs of the 8-leaf tree', () => {
  const hashOf = subtreesOf(ENTRIES)
  const path = (from: number, to: number) =>
    consistencyRanges(from, to).map((range) => hashOf(range).toString('hex'))
  deepEqual(path(1, 8), [
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ])
  deepEqual(path(6, 8), [
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ])
})

test('a frontier grows to the naive root at every size up to 300, in steps of any length', () => {
  const leaves = numbered(300)
  let frontier = EMPTY_FRONTIER
  let step = 1
  while (frontier.size < leaves.length) {
    frontier = extend(frontier, leaves.slice(frontier.size, frontier.size + step))
    ok(isFrontier(frontier))
    deepEqual(frontierRoot(frontier), naiveRoot(leaves.slice(0, frontier.size)))
    step = (step % 7) + 1
  }
  ok(!isFrontier({ size: 3, hashes: frontier.hashes.slice(0, 1) }))
})

test('every inclusion proof up to size 300 leads to the naive root, and to no other leaf or index', () => {
  const leaves = numbered(300)
  const hashOf = subtreesOf(leaves)
  for (let size = 1; size <= leaves.length; size++) {
    const root = naiveRoot(leaves.slice(0, size))
    for (let index = 0; index < size; index++) {
      const proof = inclusionRanges(index, size).map(hashOf)
      const leaf = leaves[index]!
      deepEqual(inclusionRoot({ index, size, leaf, proof }), root)
      if (size > 70) continue
      ok(
        !inclusionRoot({ index: (index + 1) % size, size, leaf, proof })?.equals(root) ||
          size === 1,
      )
      ok(!inclusionRoot({ index, size, leaf: root, proof })?.equals(root) || size === 1)
      equal(inclusionRoot({ index, size, leaf, proof: [...proof, root] }), undefined)
    }
  }
})

test('every consistency proof up to size 300 holds, and fails for another old tree', () => {
  const leaves = numbered(300)
  const hashOf = subtreesOf(leaves)
  const roots = Array.from({ length: 301 }, (_, size) => naiveRoot(leaves.slice(0, size)))
  const headOf = (size: number) => ({ size, root: roots[size]! })
  for (let to = 1; to <= 300; to++)
    for (let from = 1; from <= to; from++) {
      const proof = consistencyRanges(from, to).map(hashOf)
      ok(isConsistent(headOf(from), headOf(to), proof), `${from} → ${to}`)
      if (to > 70) continue
      ok(!isConsistent({ size: from, root: roots[0]! }, headOf(to), proof))
      ok(!isConsistent(headOf(from), { size: to, root: roots[0]! }, proof))
    }
})

test('a proof function that swaps left and right does not pass (planted fault)', () => {
  const leaves = numbered(6)
  const hashOf = subtreesOf(leaves)
  const proof = inclusionRanges(2, 6).map(hashOf).toReversed()
  const root = naiveRoot(leaves)
  ok(!inclusionRoot({ index: 2, size: 6, leaf: leaves[2]!, proof })?.equals(root))
})
