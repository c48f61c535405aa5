import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { leafHash } from './leaf.ts'
import {
  consistencyProof,
  edgeFrontier,
  edgeTiles,
  EMPTY_EDGE,
  extendTiles,
  inclusionProof,
  parseTilePath,
  readEdge,
  tilePath,
  type Tile,
  type TileReader,
} from './tiles.ts'
import { EMPTY_FRONTIER, extend, frontierRoot, inclusionRoot, isConsistent } from './tree.ts'

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => leafHash(Buffer.from(`entry ${index}`)))

function storeOf(): { keep(tiles: readonly Tile[]): void; read: TileReader } {
  const kept = new Map<string, Tile>()
  return {
    keep: (tiles) => tiles.forEach((tile) => kept.set(`${tile.level}/${tile.index}`, tile)),
    read: async (wanted) =>
      wanted
        .map(({ level, index }) => kept.get(`${level}/${index}`))
        .filter((tile) => tile !== undefined),
  }
}

const LEAVES = numbered(66_000)

test('tiles grown in uneven steps prove inclusion and consistency across three levels', async () => {
  const store = storeOf()
  let edge = EMPTY_EDGE
  let frontier = EMPTY_FRONTIER
  const heads: { size: number; root: Buffer }[] = []
  for (const step of [1, 2, 252, 1, 1, 255, 700, 64_000, 288, 500]) {
    const leaves = LEAVES.slice(edge.size, edge.size + step)
    const grown = extendTiles(edge, leaves)
    store.keep(grown.written)
    edge = grown.edge
    frontier = extend(frontier, leaves)
    deepEqual(edgeFrontier(edge), frontier)
    deepEqual(await readEdge(edge.size, store.read), edge)
    heads.push({ size: edge.size, root: frontierRoot(frontier) })
  }
  equal(edge.size, 66_000)
  for (const { size, root } of heads) {
    for (const index of [0, 1, 255, 256, 257, 1000, 65_535, 65_536, size - 1]) {
      if (index >= size) continue
      const proof = await inclusionProof(index, size, store.read)
      deepEqual(inclusionRoot({ index, size, leaf: LEAVES[index]!, proof }), root)
    }
    for (const from of heads.filter((head) => head.size <= size)) {
      const proof = await consistencyProof(from.size, size, store.read)
      equal(isConsistent(from, { size, root }, proof), true, `${from.size} → ${size}`)
    }
  }
})

test('inclusionProof() refuses when a tile is absent or too short', async () => {
  const { written } = extendTiles(EMPTY_EDGE, LEAVES.slice(0, 300))
  const store = storeOf()
  store.keep(written)
  await rejects(inclusionProof(3, 301, store.read), { code: 'tile_missing' })
  const without = storeOf()
  without.keep(written.filter((tile) => tile.index !== 0))
  await rejects(inclusionProof(299, 300, without.read), { code: 'tile_missing' })
})

test('edgeTiles() names the partial tiles of the specification’s example of 70,000 leaves', () => {
  deepEqual(edgeTiles(70_000), [
    { level: 0, index: 273, width: 112 },
    { level: 1, index: 1, width: 17 },
    { level: 2, index: 0, width: 1 },
  ])
  deepEqual(edgeTiles(256), [{ level: 1, index: 0, width: 1 }])
})

test('tilePath() spells an index in groups of three and parseTilePath() accepts that spelling only', () => {
  equal(tilePath({ level: 0, index: 1_234_067 }, 256), 'tile/0/x001/x234/067')
  equal(tilePath({ level: 1, index: 0 }, 17), 'tile/1/000.p/17')
  deepEqual(parseTilePath('tile/0/x001/x234/067'), { level: 0, index: 1_234_067, width: 256 })
  deepEqual(parseTilePath('tile/1/000.p/17'), { level: 1, index: 0, width: 17 })
  for (const path of [
    'tile/0/67',
    'tile/0/x000/067',
    'tile/00/067',
    'tile/0/067.p/256',
    'tile/0/067.p/0',
    'tile/7/000',
    'tile/0/001/067',
  ])
    equal(parseTilePath(path), undefined, path)
})
