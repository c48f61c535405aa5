// Merkle trees of RFC 6962 §2.1: growing one from its frontier alone, and checking its proofs. Sizes
// and indices are safe integers; bit operators are not used on them, because those stop at 2³¹.
import { invariant, present } from '#base/errors.ts'
import { EMPTY_ROOT, nodeHash } from './leaf.ts'

/**
 * All that is needed to append: the roots of the complete subtrees of a tree, the largest (leftmost)
 * first, one for each 1 bit of the size.
 */
export type Frontier = { readonly size: number; readonly hashes: readonly Buffer[] }
/** Leaves `begin` up to but not including `end`. */
export type LeafRange = { readonly begin: number; readonly end: number }
/** The root of the complete subtree that holds leaves index·2^level … (index+1)·2^level − 1. */
export type Subtree = (level: number, index: number) => Buffer

export const EMPTY_FRONTIER: Frontier = { size: 0, hashes: [] }

/** The frontier after appending leaf hashes. The given frontier is not changed. */
export function extend(frontier: Frontier, leaves: Iterable<Buffer>): Frontier {
  const hashes = [...frontier.hashes]
  let size = frontier.size
  for (const leaf of leaves) {
    let node = leaf
    for (let rest = size; rest % 2 === 1; rest = Math.floor(rest / 2))
      node = nodeHash(
        present(hashes.pop(), 'a frontier with fewer hashes than its size has bits'),
        node,
      )
    hashes.push(node)
    size += 1
  }
  return { size, hashes }
}

/** The tree head of a frontier. */
export const frontierRoot = (frontier: Frontier): Buffer =>
  frontier.hashes.length === 0
    ? EMPTY_ROOT
    : frontier.hashes.reduceRight((right, left) => nodeHash(left, right))

/** True when a frontier read from disk has one hash for each set bit of its size. */
export const isFrontier = ({ size, hashes }: Frontier): boolean =>
  Number.isSafeInteger(size) &&
  size >= 0 &&
  hashes.length === [...size.toString(2)].filter((bit) => bit === '1').length &&
  hashes.every((hash) => hash.length === EMPTY_ROOT.length)

/** The ranges whose heads are the inclusion proof PATH(index, D[size]), the leaf's sibling first. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  invariant(index >= 0 && index < size, `Could not prove leaf ${index}: the tree has ${size}`)
  const ranges: LeafRange[] = []
  let whole: LeafRange = { begin: 0, end: size }
  while (whole.end - whole.begin > 1) {
    const middle = splitOf(whole)
    const [inner, sibling] =
      index < middle
        ? [
            { begin: whole.begin, end: middle },
            { begin: middle, end: whole.end },
          ]
        : [
            { begin: middle, end: whole.end },
            { begin: whole.begin, end: middle },
          ]
    ranges.push(sibling)
    whole = inner
  }
  return ranges.toReversed()
}

/** The ranges whose heads are the consistency proof PROOF(from, D[to]) of RFC 6962 §2.1.2. */
export function consistencyRanges(from: number, to: number): LeafRange[] {
  invariant(from > 0 && from <= to, `Could not prove that ${from} leaves precede ${to}`)
  const ranges: LeafRange[] = []
  let whole: LeafRange = { begin: 0, end: to }
  while (from < whole.end) {
    const middle = splitOf(whole)
    if (from <= middle) {
      ranges.push({ begin: middle, end: whole.end })
      whole = { begin: whole.begin, end: middle }
    } else {
      ranges.push({ begin: whole.begin, end: middle })
      whole = { begin: middle, end: whole.end }
    }
  }
  // The head of the old tree is known to the verifier when that tree is itself a complete subtree.
  if (whole.begin > 0) ranges.push(whole)
  return ranges.toReversed()
}

/** The head of the leaves of a range, from the roots of complete subtrees. */
export function rangeHash(range: LeafRange, subtree: Subtree): Buffer {
  const count = range.end - range.begin
  const level = Math.log2(count)
  if (Number.isInteger(level)) return subtree(level, range.begin / count)
  const middle = splitOf(range)
  return nodeHash(
    rangeHash({ begin: range.begin, end: middle }, subtree),
    rangeHash({ begin: middle, end: range.end }, subtree),
  )
}

/** The complete subtrees, as [level, index], that rangeHash() will ask for. */
export function rangeSubtrees(range: LeafRange): [level: number, index: number][] {
  const found: [number, number][] = []
  rangeHash(range, (level, index) => {
    found.push([level, index])
    return EMPTY_ROOT
  })
  return found
}

// RFC 6962 §2.1: the largest power of two smaller than the number of leaves.
function splitOf({ begin, end }: LeafRange): number {
  let power = 1
  while (power * 2 < end - begin) power *= 2
  return begin + power
}

export type Inclusion = {
  readonly index: number
  readonly size: number
  readonly leaf: Buffer
  readonly proof: readonly Buffer[]
}

/** The tree head that an inclusion proof leads to, or undefined when its length is wrong (RFC 9162 §2.1.3.2). */
export function inclusionRoot({ index, size, leaf, proof }: Inclusion): Buffer | undefined {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return undefined
  let first = index
  let last = size - 1
  let root = leaf
  for (const sibling of proof) {
    if (last === 0) return undefined
    if (first % 2 === 1 || first === last) {
      root = nodeHash(sibling, root)
      while (first % 2 === 0 && first > 0) {
        first = Math.floor(first / 2)
        last = Math.floor(last / 2)
      }
    } else root = nodeHash(root, sibling)
    first = Math.floor(first / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}

export type TreeHead = { readonly size: number; readonly root: Buffer }

/** True when the tree of head `to` begins with the tree of head `from` (RFC 9162 §2.1.4.2). */
export function isConsistent(from: TreeHead, to: TreeHead, proof: readonly Buffer[]): boolean {
  if (from.size > to.size || from.size < 1) return false
  if (from.size === to.size) return proof.length === 0 && from.root.equals(to.root)
  const path = Number.isInteger(Math.log2(from.size)) ? [from.root, ...proof] : [...proof]
  const start = path.shift()
  if (start === undefined) return false
  let first = from.size - 1
  let last = to.size - 1
  for (; first % 2 === 1; first = Math.floor(first / 2)) last = Math.floor(last / 2)
  let oldRoot = start
  let newRoot = start
  for (const sibling of path) {
    if (last === 0) return false
    if (first % 2 === 1 || first === last) {
      oldRoot = nodeHash(sibling, oldRoot)
      newRoot = nodeHash(sibling, newRoot)
      while (first % 2 === 0 && first > 0) {
        first = Math.floor(first / 2)
        last = Math.floor(last / 2)
      }
    } else newRoot = nodeHash(newRoot, sibling)
    first = Math.floor(first / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && oldRoot.equals(from.root) && newRoot.equals(to.root)
}
