// The tree in tiles of 256 hashes (C2SP tlog-tiles): the form in which it is stored and served. A tile
// only ever grows at its end, so a partial tile of any older size is a prefix of the stored one.
import { fault } from '#contract/errors.ts'
import { present } from '#base/errors.ts'
import { HASH_BYTES, nodeHash } from './leaf.ts'
import {
  consistencyRanges,
  inclusionRanges,
  rangeHash,
  rangeSubtrees,
  type Frontier,
  type LeafRange,
} from './tree.ts'

export const TILE_WIDTH = 256
export const TILE_HEIGHT = 8
const TILE_BYTES = TILE_WIDTH * HASH_BYTES
// 256⁷ leaves are more than a safe integer counts.
const LEVELS_MAX = 7

export type TileId = { readonly level: number; readonly index: number }
/** One to 256 hashes, concatenated. */
export type Tile = TileId & { readonly hashes: Buffer }
/** Reads tiles, in any order; those that do not exist are left out. */
export type TileReader = (wanted: readonly TileId[]) => Promise<readonly Tile[]>
/** The rightmost, partial tile of every level: enough to append and to know the tree head. */
export type TileEdge = { readonly size: number; readonly levels: readonly Buffer[] }

export const EMPTY_EDGE: TileEdge = { size: 0, levels: [] }

/** The edge after appending leaf hashes, and every tile that is new or longer than before. */
export function extendTiles(
  edge: TileEdge,
  leaves: readonly Buffer[],
): { edge: TileEdge; written: Tile[] } {
  const levels = [...edge.levels]
  const written: Tile[] = []
  let hashes = leaves
  for (let level = 0; hashes.length > 0; level++) {
    const row = Buffer.concat([levels[level] ?? Buffer.alloc(0), ...hashes])
    const full = Math.floor(row.length / TILE_BYTES)
    const first = Math.floor(edge.size / TILE_WIDTH ** (level + 1))
    const tiles = Array.from({ length: full }, (_, nth) => ({
      level,
      index: first + nth,
      hashes: row.subarray(nth * TILE_BYTES, (nth + 1) * TILE_BYTES),
    }))
    const rest = row.subarray(full * TILE_BYTES)
    written.push(...tiles)
    if (rest.length > 0) written.push({ level, index: first + full, hashes: rest })
    levels[level] = rest
    hashes = tiles.map((tile) => foldHashes(tile.hashes))
  }
  return { edge: { size: edge.size + leaves.length, levels }, written }
}

/** The partial tiles that make up the edge of a tree of some size. */
export function edgeTiles(size: number): (TileId & { width: number })[] {
  return Array.from({ length: LEVELS_MAX }, (_, level) => ({
    level,
    index: Math.floor(size / TILE_WIDTH ** (level + 1)),
    width: Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH,
  })).filter((tile) => tile.width > 0)
}

/** Reads the edge of a tree of some size. Throws ErgonError `tile_missing`. */
export async function readEdge(size: number, read: TileReader): Promise<TileEdge> {
  const wanted = edgeTiles(size)
  const stored = await read(wanted)
  const levels: Buffer[] = []
  for (const tile of wanted) levels[tile.level] = hashesAt(stored, tile, 0, tile.width)
  return { size, levels: Array.from(levels, (row) => row ?? Buffer.alloc(0)) }
}

/** The frontier that an edge holds. */
export function edgeFrontier(edge: TileEdge): Frontier {
  const hashes: Buffer[] = []
  for (const row of edge.levels.toReversed()) {
    let at = 0
    for (let count = TILE_WIDTH / 2; count >= 1; count /= 2) {
      const bytes = count * HASH_BYTES
      if (row.length - at < bytes) continue
      hashes.push(foldHashes(row.subarray(at, at + bytes)))
      at += bytes
    }
  }
  return { size: edge.size, hashes }
}

/** The inclusion proof of a leaf in the tree of some size. Throws ErgonError `tile_missing`. */
export const inclusionProof = (index: number, size: number, read: TileReader): Promise<Buffer[]> =>
  rangeHashes(inclusionRanges(index, size), read)

/** The proof that the tree of size `to` begins with the tree of size `from`, 1 ≤ from ≤ to. */
export const consistencyProof = (from: number, to: number, read: TileReader): Promise<Buffer[]> =>
  rangeHashes(consistencyRanges(from, to), read)

async function rangeHashes(ranges: readonly LeafRange[], read: TileReader): Promise<Buffer[]> {
  const wanted = new Map<string, TileId>()
  for (const [level, index] of ranges.flatMap(rangeSubtrees)) {
    const tile = tileOf(level, index)
    wanted.set(`${tile.level}/${tile.index}`, { level: tile.level, index: tile.index })
  }
  const stored = wanted.size === 0 ? [] : await read([...wanted.values()])
  return ranges.map((range) =>
    rangeHash(range, (level, index) => {
      const tile = tileOf(level, index)
      return foldHashes(hashesAt(stored, tile, tile.offset, tile.width))
    }),
  )
}

/** Where the hashes lie whose fold is the root of a complete subtree of 2^level leaves. */
export function tileOf(level: number, index: number): TileId & { offset: number; width: number } {
  const width = 2 ** (level % TILE_HEIGHT)
  const first = index * width
  return {
    level: Math.floor(level / TILE_HEIGHT),
    index: Math.floor(first / TILE_WIDTH),
    offset: first % TILE_WIDTH,
    width,
  }
}

function hashesAt(stored: readonly Tile[], id: TileId, offset: number, width: number): Buffer {
  const tile = stored.find((each) => each.level === id.level && each.index === id.index)
  const end = (offset + width) * HASH_BYTES
  if (tile === undefined || tile.hashes.length < end)
    throw fault(
      'tile_missing',
      `Could not read ${offset + width} hashes of the tile: ${tilePath(id, TILE_WIDTH)}`,
    )
  return tile.hashes.subarray(offset * HASH_BYTES, end)
}

/** The root of a complete subtree whose leaves are 2ⁿ concatenated hashes. */
function foldHashes(hashes: Buffer): Buffer {
  if (hashes.length === HASH_BYTES) return Buffer.from(hashes)
  const half = hashes.length / 2
  return nodeHash(foldHashes(hashes.subarray(0, half)), foldHashes(hashes.subarray(half)))
}

/** The path of a tile under the log's prefix: `tile/0/x001/x234/067` or `tile/1/000.p/17`. */
export function tilePath({ level, index }: TileId, width: number): string {
  const groups = [String(index % 1000).padStart(3, '0')]
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000))
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`)
  return `tile/${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

const PATH = /^tile\/(0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Reads a tile's path; undefined when it is not the one spelling of a tile. */
export function parseTilePath(path: string): (TileId & { width: number }) | undefined {
  const found = PATH.exec(path)
  if (found === null) return undefined
  const digits = present(found[2], 'a tile path without an index').replaceAll(/[x/]/g, '')
  const tile = {
    level: Number(found[1]),
    index: Number(digits),
    width: found[3] === undefined ? TILE_WIDTH : Number(found[3]),
  }
  return tilePath(tile, tile.width) === path && tile.level < LEVELS_MAX ? tile : undefined
}
