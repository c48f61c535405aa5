import { equal, match, ok, rejects } from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { leavesOf } from './charge.fixture.ts'
import { checkpointBody, formatNote, originOf, parseCheckpoint } from './checkpoint.ts'
import type { ReceiptKey } from './keys.ts'
import { leafOf, type LeafContent } from './leaf.ts'
import { historyFault, type LogReader } from './history.ts'
import { isNewKey, linkFault } from './links.ts'
import { EMPTY_EDGE, edgeFrontier, extendTiles } from './tiles.ts'
import { frontierRoot, type Head } from './tree.ts'

const pair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) }
}
const ours = pair()

/** A shard of a key as it would be published; `first` is what leaf 0 holds, the link if nothing else is said. */
function makeShard(
  { publicKey, privateKey }: ReturnType<typeof pair>,
  shard: string,
  { count, link, first = link }: { count: number; link?: string; first?: string },
) {
  const origin = originOf(publicKey, shard)
  const head: LeafContent[] =
    first === undefined ? [] : [{ accountSeq: 0n, bytes: Buffer.from(first) }]
  const { edge, written } = extendTiles(EMPTY_EDGE, [...head, ...leavesOf(0, count)].map(leafOf))
  const body = checkpointBody({
    origin,
    size: edge.size,
    root: frontierRoot(edgeFrontier(edge)),
  })
  const key: ReceiptKey = { origin, shard, publicKey, validFrom: '2026-01-01T00:00:00Z', link }
  const note = formatNote(body, sign(null, Buffer.from(body), privateKey), publicKey)
  const read: LogReader = {
    checkpoint: async () => note,
    async tile(of, { level, index, width }) {
      equal(of, origin)
      const tile = written.find((each) => each.level === level && each.index === index)
      ok((tile?.hashes.length ?? 0) >= width * 32, 'no wider than a tree of that size has it')
      return tile?.hashes.subarray(0, width * 32) ?? Buffer.alloc(0)
    },
  }
  return { key, body, note, read, head: parseCheckpoint(body) }
}
type Made = ReturnType<typeof makeShard>

const old = makeShard(ours, '2026', { count: 700 })
const older = makeShard(ours, '2026', { count: 300 })
const forked = makeShard(ours, '2026', { count: 700, first: 'another' })
const faultOf = (next: Made, seen: Head | undefined = undefined, read = next.read) =>
  linkFault(
    next.key,
    { keys: [old.key], heads: new Map(seen === undefined ? [] : [[old.key.origin, seen]]) },
    read,
  )

test('linkFault() finds nothing in a shard whose first leaf names the end of a pinned log', async () => {
  for (const count of [1, 255, 256, 3_000]) {
    const next = makeShard(ours, '2026.1', { count, link: old.body })
    equal(await faultOf(next), undefined, String(count))
    equal(await faultOf(next, old.head), undefined)
  }
  const foreign = makeShard(pair(), '2027', { count: 9, link: old.body })
  equal(await faultOf(foreign), undefined)
  equal(isNewKey(foreign.key, [old.key]), true)
  equal(isNewKey(makeShard(ours, '2027', { count: 1 }).key, [old.key]), false)
})

test('linkFault() says what is wrong with any other', async () => {
  const next = makeShard(ours, '2026.1', { count: 9, link: old.body })
  match((await faultOf(makeShard(ours, '2026.1', { count: 9 }))) ?? '', /names no log/)
  const denies = makeShard(ours, '2026.1', { count: 9, link: older.body })
  match((await faultOf(denies, old.head)) ?? '', /300 leaves of .*other 700/)
  const beside = makeShard(ours, '2026.1', { count: 9, link: forked.body })
  match((await faultOf(beside, { size: 701, root: old.head.root })) ?? '', /other 701/)
  // It names a head of a history that does not go on from what was seen, as the tiles of the old log tell.
  const reads = (log: Made) => ({
    ...beside.read,
    tile: (...[of, id]: Parameters<LogReader['tile']>) =>
      (of === log.key.origin ? log : beside).read.tile(of, id),
  })
  match((await faultOf(beside, older.head, reads(forked))) ?? '', /701 leaves of .*other 300/)
  const unknown = makeShard(pair(), '2026', { count: 9 })
  const strange = makeShard(ours, '2026.1', { count: 9, link: unknown.body })
  match((await faultOf(strange)) ?? '', /not pinned/)
  match((await faultOf(makeShard(ours, '2025', { count: 9, link: old.body }))) ?? '', /not newer/)
  // The page says so, and the log does not.
  const lies = makeShard(ours, '2026.1', { count: 9, link: old.body, first: older.body })
  match((await faultOf(lies)) ?? '', /first leaf/)
  const none = {
    ...next.read,
    checkpoint: async () => makeShard(pair(), '2026.1', { count: 9 }).note,
  }
  match((await faultOf(next, undefined, none)) ?? '', /not signed by its key/)
  const away = { ...next.read, tile: async () => Promise.reject(new RangeError('no such tile')) }
  match((await faultOf(next, undefined, away)) ?? '', /cannot be checked: no such tile/)
})

test('historyFault() proves heads of any two sizes to be of one history, whichever was seen first', async () => {
  const heads = [1, 2, 255, 256, 257, 300, 513].map((count) => makeShard(ours, '2026', { count }))
  for (const one of heads)
    for (const { head } of heads) {
      equal(await historyFault(head, one.head, old.read), undefined)
      equal(await historyFault(head, old.head, old.read), undefined)
      equal(await historyFault(old.head, one.head, old.read), undefined)
    }
})

test('historyFault() finds two histories, and rejects where the tiles are not there', async () => {
  for (const size of [1, 256, 300, 700]) {
    const of = makeShard(ours, '2026', { count: size }).head
    match((await historyFault(of, forked.head, forked.read)) ?? '', /two histories: its 701 leaves/)
    match((await historyFault(forked.head, of, forked.read)) ?? '', /with the 701 that were seen/)
  }
  await rejects(historyFault(older.head, old.head, { tile: async () => Buffer.alloc(32) }), {
    code: 'tile_missing',
  })
})
