// Signers and state of different ages: which of them goes on, and that nothing is signed beside what was.
import { deepEqual, equal, match, notDeepEqual, ok } from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Quorum } from '#signers/client.ts'
import type { FiveSigners } from '#signers/five-signers.fixture.ts'
import type { State } from '#state/connect.ts'
import { leavesOf } from '#tlog/charge.fixture.ts'
import { parseCheckpoint, type Checkpoint } from '#tlog/checkpoint.ts'
import { historyFault, type LogReader } from '#tlog/history.ts'
import { leafOf } from '#tlog/leaf.ts'
import { isHandover } from '#tlog/handover.ts'
import { isHandedOver, isNewKey, linkFault } from '#tlog/links.ts'
import { formatReceipt } from '#tlog/proof.ts'
import { edgeFrontier, extendTiles, readEdge } from '#tlog/tiles.ts'
import { frontierRoot } from '#tlog/tree.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import type { Receipts } from './prove.ts'
import {
  alarmsOf,
  dropCharges,
  dropShard,
  loseShares,
  postCharges,
  runSealer,
  until,
  openReceipts,
} from './receipts.fixture.ts'
import type { SignerStore } from './signer-store.ts'
import type { ReceiptStore, SealedCheckpoint, Shard } from './store.ts'

const skip = whyNoState()
let wallMs = Date.parse('2026-11-21T12:00:00Z')
const clock = { wallMs: () => wallMs, monotonicMs: () => performance.now() }

let world: Awaited<ReturnType<typeof openReceipts>>
let state: State
let store: ReceiptStore
let signerStore: SignerStore
let five: FiveSigners
let quorum: Quorum
let receipts: Receipts
let posted = 0
let stop: (() => Promise<void>) | undefined

before(async () => {
  if (skip !== false) return
  world = await openReceipts(openTestUrl())
  ;({ state, store, signerStore, five, quorum, receipts } = world)
})
afterEach(() => stop?.())
after(() => world?.[Symbol.asyncDispose]())

/** Posts charges and seals them, with a sealer that begins only then; `others` as for postCharges(). */
async function sealMore(count: number, others = 0): Promise<void> {
  await postCharges(state, posted, posted + count, others)
  posted += count
  const sealing = runSealer(state, { store, signers: quorum, clock })
  stop = async () => {
    stop = undefined
    await sealing.stop()
  }
  const newest = `rcpt_${posted - 1}`
  await until(async () => (await receipts.find(newest)).state === 'sealed')
  await stop()
  const found = await receipts.find(newest)
  ok(found.state === 'sealed')
  const { checks } = verifyReceipt(formatReceipt(found.receipt), await receipts.keys())
  equal(checks.find((check) => !check.ok)?.detail, undefined)
}

async function newestHead(): Promise<{ shard: Shard; head: SealedCheckpoint }> {
  const shard = (await store.shards()).at(-1)
  const head = shard && (await store.latest(shard.origin))
  ok(shard !== undefined && head !== undefined)
  return { shard, head }
}

/** A client's reads of the log. */
const read: LogReader = {
  checkpoint: async (origin) => (await receipts.checkpoint(origin)) ?? '',
  async tile(origin, id) {
    const tile = await receipts.tile(origin, id)
    if (tile === undefined) throw new RangeError('no such tile')
    return tile
  },
}

const copyOf = (index: number) => join(five.folder, `copy-${index}`)
const INDICES = [1, 2, 3, 4, 5]

async function copySigners(): Promise<void> {
  await five.kill(...INDICES)
  for (const index of INDICES)
    cpSync(five.folderOf(index), copyOf(index), { recursive: true, force: true })
  await five.start()
}

async function putSignersBack(): Promise<void> {
  await five.kill(...INDICES)
  for (const index of INDICES) {
    rmSync(five.folderOf(index), { recursive: true })
    cpSync(copyOf(index), five.folderOf(index), { recursive: true })
  }
  await five.start()
}

test('signers older than the state go on from it, in the same shard', { skip }, async () => {
  await sealMore(300)
  await copySigners()
  await sealMore(300)
  const { shard, head } = await newestHead()
  await putSignersBack()
  await sealMore(2)
  const later = await newestHead()
  equal(later.shard.origin, shard.origin)
  equal(later.head.size, posted)
  equal(await historyFault(head, later.head, read), undefined)
})

test('signers older than the newest shard of the state go on in that one', { skip }, async () => {
  await copySigners()
  await sealMore(5)
  wallMs = Date.parse('2027-02-01T00:00:00Z')
  await sealMore(5)
  const { shard, head } = await newestHead()
  equal(shard.shard, '2027')
  await putSignersBack()
  await sealMore(2)
  const later = await newestHead()
  equal(later.shard.shard, '2027')
  equal(await historyFault(head, later.head, read), undefined)
})

test(
  'a restored ledger that has grown past what was signed begins a shard that names that',
  { skip },
  async () => {
    await sealMore(5)
    const { shard, head } = await newestHead()
    posted -= 3
    await dropCharges(state, posted)
    await state.query('delete from receipt_checkpoints where origin = $1', [shard.origin])
    await state.query('delete from receipt_tiles where origin = $1', [shard.origin])
    await sealMore(8, 50_000)
    const later = await newestHead()
    equal(later.shard.shard, '2027.1')
    equal(parseCheckpoint(later.shard.link ?? '').root.equals(head.root), true)
    const reason = `restored: other ${head.size} leaves of shard ${shard.shard} were signed before`
    deepEqual(await alarmsOf(state, 'receipts_set_back'), [
      { shard: later.shard.origin, after: shard.origin, reason },
    ])
  },
)

test(
  'a new key that is ordered while three have theirs begins a shard by the word of the old one',
  { skip },
  async () => {
    const before = await newestHead()
    await loseShares(five, 2, 5)
    await state.query('update receipt_signers set new_key_ordered_at = now()')
    await sealMore(3)
    const { shard } = await newestHead()
    notDeepEqual(shard.publicKey, before.shard.publicKey)
    equal(isHandover(shard.handover ?? '', before.shard.publicKey, shard.publicKey), true)
    const pinned = {
      keys: [before.shard],
      heads: new Map([[before.shard.origin, before.head]]),
    }
    const key = (await receipts.keys()).find(({ origin }) => origin === shard.origin)
    ok(key !== undefined && isNewKey(key, pinned.keys) && isHandedOver(key, pinned.keys))
    equal(await linkFault(key, pinned, read), undefined)
    equal(await signerStore.mayMakeKey(), false, 'the order is done')
    await sealMore(2)
    equal((await newestHead()).shard.origin, shard.origin)
  },
)

/** Has the signers sign a head that goes on from a saved one with a leaf that is nowhere else. */
async function signBeside({
  shard,
  head,
}: {
  shard: Shard
  head: Checkpoint
}): Promise<Checkpoint> {
  const edge = await readEdge(head.size, (wanted) => store.tiles(shard.origin, wanted))
  const other = leavesOf(90_000, 90_001)
  const root = frontierRoot(edgeFrontier(extendTiles(edge, other.map(leafOf)).edge))
  const beside = { origin: shard.origin, size: head.size + 1, root }
  // All five have signed what was saved, or lack leaves that this source has not.
  await quorum.sign(
    beside,
    async (from) => other.slice(from - head.size),
    AbortSignal.timeout(60_000),
  )
  return beside
}

test(
  'signers that signed another history than the state has begin a shard, and clients see it',
  { skip },
  async () => {
    // Each of the five is at the head of the state, as sealing by turns leaves it.
    for (const count of [1, 1, 1]) await sealMore(count)
    const before = await newestHead()
    await copySigners()
    await sealMore(4)
    const pinned = await newestHead()
    await putSignersBack()
    await quorum.open(AbortSignal.timeout(60_000))
    await quorum.positions(AbortSignal.timeout(60_000))
    const beside = await signBeside(before)
    await sealMore(2)
    const later = await newestHead()
    equal(later.shard.shard, '2027.3')
    equal(parseCheckpoint(later.shard.link ?? '').root.equals(beside.root), true)
    const heads = new Map([[pinned.shard.origin, pinned.head]])
    match(
      (await linkFault(later.shard, { keys: [pinned.shard], heads }, read)) ?? '',
      new RegExp(`of which other ${pinned.head.size} were seen`),
    )
  },
)

test(
  'a signer that was away for a whole shard signs the next one when it is needed',
  { skip },
  async () => {
    await sealMore(2)
    await five.kill(1)
    for (const year of [2028, 2029]) {
      wallMs = Date.parse(`${year}-01-02T00:00:00Z`)
      await sealMore(3)
    }
    await five.start(1)
    await five.kill(2, 3)
    wallMs = Date.parse('2030-01-02T00:00:00Z')
    await sealMore(2)
    equal((await newestHead()).shard.shard, '2030')
    await five.start(2, 3)
  },
)

test(
  'a signer that was away for a shard that a restore took away follows by the notes of the others',
  { skip },
  async () => {
    for (const count of [1, 1, 1]) await sealMore(count)
    await five.kill(1)
    wallMs = Date.parse('2031-01-02T00:00:00Z')
    await sealMore(3)
    const { shard, head } = await newestHead()
    posted -= 2
    await dropCharges(state, posted)
    await dropShard(state, shard.origin)
    await five.start(1)
    await five.kill(2)
    await sealMore(2, 70_000)
    const later = await newestHead()
    equal(later.shard.shard, '2031.1')
    equal(parseCheckpoint(later.shard.link ?? '').root.equals(head.root), true)
    await five.start(2)
  },
)
