import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict'
import { sign } from 'node:crypto'
import { test } from 'node:test'
import { formatNote, parseCheckpoint } from './checkpoint.ts'
import { handoverBody } from './handover.ts'
import { historyFault, PartMissing, type LogReader } from './history.ts'
import { isHandedOver, isNewKey, linkFault, vouchedKeys } from './links.ts'
import { keyPair, makeShard, type Made } from './shard.fixture.ts'
import type { TreeHead } from './tree.ts'

const ours = keyPair()
const old = makeShard(ours, '2026', { count: 700 })
const older = makeShard(ours, '2026', { count: 300 })
const forked = makeShard(ours, '2026', { count: 700, first: 'another' })
const faultOf = (next: Made, seen: TreeHead | undefined = undefined, read = next.read) =>
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
  const foreign = makeShard(keyPair(), '2027', { count: 9, link: old.body })
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
  // The new shard names a head of another history, as the tiles of the old log show.
  const reads = (log: Made) => ({
    ...beside.read,
    tile: (...[of, id]: Parameters<LogReader['tile']>) =>
      (of === log.key.origin ? log : beside).read.tile(of, id),
  })
  match((await faultOf(beside, older.head, reads(forked))) ?? '', /701 leaves of .*other 300/)
  const unknown = makeShard(keyPair(), '2026', { count: 9 })
  const strange = makeShard(ours, '2026.1', { count: 9, link: unknown.body })
  match((await faultOf(strange)) ?? '', /not pinned/)
  match((await faultOf(makeShard(ours, '2025', { count: 9, link: old.body }))) ?? '', /not newer/)
  // The page says so, and the log does not.
  const lies = makeShard(ours, '2026.1', { count: 9, link: old.body, first: older.body })
  match((await faultOf(lies)) ?? '', /first leaf/)
  const none = {
    ...next.read,
    checkpoint: async () => makeShard(keyPair(), '2026.1', { count: 9 }).note,
  }
  match((await faultOf(next, undefined, none)) ?? '', /not signed by its key/)
  const missing = async () => Promise.reject(new PartMissing('no such tile'))
  match(
    (await faultOf(next, undefined, { ...next.read, tile: missing })) ?? '',
    /cannot be checked: no such tile/,
  )
})

test('linkFault() finds no fault in a log that cannot be read now, and does not vouch for it', async () => {
  const next = makeShard(ours, '2026.1', { count: 9, link: old.body })
  const silent = async () => Promise.reject(new TypeError('the log answered 503'))
  const unread = { name: 'Error', message: 'the log answered 503' }
  await rejects(faultOf(next, undefined, { ...next.read, tile: silent }), unread)
  await rejects(faultOf(next, undefined, { ...next.read, checkpoint: silent }), unread)
  // Tiles of the old log, which would show another history: a service must not hide them by its silence.
  const beside = makeShard(ours, '2026.1', { count: 9, link: forked.body })
  const hides: LogReader = {
    ...beside.read,
    tile: (...[of, id]) => (of === old.key.origin ? silent() : beside.read.tile(of, id)),
  }
  await rejects(faultOf(beside, older.head, hides), unread)
  const pinned = { keys: [old.key], heads: new Map() }
  for (const [tile, isUnread] of [
    [silent, true],
    [async () => Promise.reject(new PartMissing('gone')), false],
  ] as const) {
    const read = { ...next.read, tile }
    const { added, refused } = await vouchedKeys([next.key], pinned, { acceptNewKey: false, read })
    deepEqual([added, refused.map((key) => key.isUnread)], [[], [isUnread]])
  }
})

test('isHandedOver() takes the word of the key whose log it follows, for that key alone', () => {
  const next = keyPair()
  const say = (from: typeof ours, about: Buffer, by = from) => {
    const body = handoverBody(from.publicKey, about)
    return formatNote(body, sign(null, Buffer.from(body), by.privateKey), from.publicKey)
  }
  const { key } = makeShard(next, '2027', { count: 1, link: old.body })
  const another = keyPair()
  const keys = [old.key, makeShard(another, '2025', { count: 1 }).key]
  const takes = (handover?: string, link: string | undefined = key.link) =>
    isHandedOver({ ...key, link, handover }, keys)
  equal(takes(say(ours, next.publicKey)), true)
  equal(takes(), false)
  equal(takes('none'), false)
  equal(takes(say(ours, another.publicKey)), false, 'of another key')
  equal(takes(say(ours, next.publicKey, next)), false, 'signed by itself')
  equal(takes(say(another, next.publicKey)), false, 'by a pinned key whose log it does not follow')
  equal(takes(say(ours, next.publicKey), old.body.replace('2026', '2025')), false)
  // A tree head is not accepted as a handover, and a handover is not accepted as a tree head.
  equal(takes(old.note), false)
  throws(() => parseCheckpoint(handoverBody(ours.publicKey, next.publicKey)))
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
