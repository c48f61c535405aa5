// Inclusion proofs of many leaves of one tree. Neighbours share most hashes: a tile is folded once, not again for each
// leaf that is proven.
import { present } from '#base/errors.ts'
import { HASH_BYTES, nodeHash } from './leaf.ts'
import { TILE_HEIGHT, tileOf, tilePath, TILE_WIDTH, type TileId, type TileReader } from './tiles.ts'
import { inclusionRanges, rangeHash, rangeSubtrees } from './tree.ts'

export interface Prover {
  /** The proof of each leaf, in their order. Reads the tiles that it lacks. Throws ErgonError `tile_missing`. */
  prove(indices: readonly number[]): Promise<readonly (readonly Buffer[])[]>
}

/** A tile as a tree: its hashes, then the row of their parents, up to one root. */
type FoldedTile = readonly Buffer[]

/** Proves leaves of the tree of some size. Between two calls it keeps only the tiles of the last one. */
export function createProver(size: number, read: TileReader): Prover {
  let kept = new Map<string, FoldedTile>()
  return {
    async prove(indices) {
      const ranges = indices.map((index) => inclusionRanges(index, size))
      const wanted = new Map<string, TileId>()
      for (const [level, index] of ranges.flat().flatMap(rangeSubtrees)) {
        const tile = tileOf(level, index)
        wanted.set(keyOf(tile), { level: tile.level, index: tile.index })
      }
      kept = new Map([...kept].filter(([key]) => wanted.has(key)))
      const missing = [...wanted].filter(([key]) => !kept.has(key)).map(([, id]) => id)
      for (const { hashes, ...id } of missing.length === 0 ? [] : await read(missing))
        kept.set(keyOf(id), fold(hashes))
      const subtree = (level: number, index: number): Buffer => {
        const tile = tileOf(level, index)
        const row = kept.get(keyOf(tile))?.[level % TILE_HEIGHT]
        const at = (tile.offset / tile.width) * HASH_BYTES
        const hash = row?.subarray(at, at + HASH_BYTES)
        return present(
          hash?.length === HASH_BYTES ? hash : undefined,
          `the tile ${tilePath(tile, TILE_WIDTH)} covers a signed tree`,
        )
      }
      return ranges.map((of) => of.map((range) => rangeHash(range, subtree)))
    },
  }
}

const keyOf = ({ level, index }: TileId): string => `${level}/${index}`

function fold(hashes: Buffer): FoldedTile {
  const rows = [hashes]
  for (let row = hashes; row.length >= 2 * HASH_BYTES;) {
    const parents = Buffer.allocUnsafe(Math.floor(row.length / HASH_BYTES / 2) * HASH_BYTES)
    for (let at = 0; at < parents.length; at += HASH_BYTES)
      nodeHash(
        row.subarray(2 * at, 2 * at + HASH_BYTES),
        row.subarray(2 * at + HASH_BYTES, 2 * at + 2 * HASH_BYTES),
      ).copy(parents, at)
    rows.push(parents)
    row = parents
  }
  return rows
}
