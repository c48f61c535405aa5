import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Quorum } from '#signers/client.ts'
import type { FiveSigners } from '#signers/five-signers.fixture.ts'
import { connectState, type State } from '#state/connect.ts'
import { leavesOf } from '#tlog/charge.fixture.ts'
import { compareShards, parseCheckpoint, parseNote } from '#tlog/checkpoint.ts'
import { leafHash, logEntry } from '#tlog/leaf.ts'
import { formatReceipt, receiptJson } from '#tlog/proof.ts'
import { EMPTY_FRONTIER, extend, frontierRoot } from '#tlog/tree.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import { createLeadership } from './leader.ts'
import type { Receipts } from './prove.ts'
import {
  alarmsOf,
  dropCharges,
  dropShard,
  log,
  loseShares,
  openReceipts,
  postCharges,
  runSealer,
  type RunningSealer,
  until as untilHolds,
} from './receipts.fixture.ts'
import type { SignerStore } from './signer-store.ts'
import { createSignerWatch } from './signer-watch.ts'
import { readLeaves, type ReceiptStore } from './store.ts'

const skip = whyNoState()
let wallMs = Date.parse('2026-11-21T12:00:00Z')
const clock = { wallMs: () => wallMs, monotonicMs: () => performance.now() }

let world: Awaited<ReturnType<typeof openReceipts>>
let state: State
let url: string
let store: ReceiptStore
let signerStore: SignerStore
let five: FiveSigners
let quorum: Quorum
let receipts: Receipts
let posted = 0

before(async () => {
  if (skip !== false) return
  world = await openReceipts(openTestUrl())
  ;({ state, url, store, signerStore, five, quorum, receipts } = world)
})
after(() => world?.[Symbol.asyncDispose]())

/** The part of a tick that the sealer can see. */
async function post(count: number): Promise<void> {
  await postCharges(state, posted, posted + count)
  posted += count
}

// A test that fails leaves its sealer leading.
const running = new Set<RunningSealer>()
afterEach(() => Promise.all([...running].map((one) => one.stop())))

function seal(through: ReceiptStore = store, signers: Quorum = quorum): RunningSealer {
  const one = runSealer(state, { store: through, signers, clock })
  const kept: RunningSealer = {
    ...one,
    async stop() {
      running.delete(kept)
      await one.stop()
    },
  }
  running.add(kept)
  return kept
}

/** Waits; the error of a wait that takes too long has what the sealers and the signers say. */
const until = (holds: () => boolean | Promise<boolean>): Promise<void> =>
  untilHolds(holds).catch(async (cause: unknown) => {
    const sealers = [...running].map(({ sealer }) => sealer.state())
    const shares = await quorum.shares(AbortSignal.timeout(60_000))
    throw new Error(JSON.stringify({ sealers, shares, posted }), { cause })
  })

const isSealed = async (nth: number) => (await receipts.find(`rcpt_${nth}`)).state === 'sealed'

async function verified(nth: number) {
  const found = await receipts.find(`rcpt_${nth}`)
  ok(found.state === 'sealed', `charge ${nth} is ${found.state}`)
  const keys = await receipts.keys()
  const asText = verifyReceipt(formatReceipt(found.receipt), keys)
  const asJson = verifyReceipt(JSON.stringify(receiptJson(`rcpt_${nth}`, found.receipt)), keys)
  deepEqual(
    asText.checks.filter((check) => !check.ok),
    [],
  )
  deepEqual(asText, asJson)
  equal(asText.charge?.id, `rcpt_${nth}`)
  return asText
}

test(
  'posted charges get receipts that verify; before that they are unsealed',
  { skip },
  async () => {
    await post(3)
    equal((await receipts.find('rcpt_0')).state, 'unsealed')
    equal((await receipts.find('rcpt_none')).state, 'unknown')
    const running = seal()
    await until(() => isSealed(2))
    await post(300)
    await until(() => isSealed(302))
    for (const nth of [0, 2, 150, 255, 256, 302]) await verified(nth)
    const { origin = '' } = running.sealer.state()
    match(origin, /^ergon-[0-9a-f]{16}\/2026$/)
    const note = await receipts.checkpoint(origin)
    await sleep(1_500)
    equal(await receipts.checkpoint(origin), note, 'nothing is signed while nothing is posted')
    await running.stop()
  },
)

test('tiles and charges lead to the signed tree head', { skip }, async () => {
  const [key] = await receipts.keys()
  const origin = key?.origin ?? ''
  const { size, root } = parseCheckpoint(parseNote((await receipts.checkpoint(origin)) ?? '').body)
  equal(size, posted)
  const shard = (await store.shards()).find((each) => each.origin === origin)
  ok(shard !== undefined)
  const leaves = (await readLeaves(store, shard, 0, size)).leaves()
  const hashes = leaves.map((leaf) => leafHash(logEntry(leaf)))
  deepEqual(frontierRoot(extend(EMPTY_FRONTIER, hashes)), root)
  const tile = await receipts.tile(origin, { level: 0, index: 1, width: size - 256 })
  deepEqual(tile, Buffer.concat(hashes.slice(256)))
  equal(await receipts.tile(origin, { level: 0, index: 1, width: size - 255 }), undefined)
})

test(
  'with three signers lost charges wait, and are sealed when one is back',
  { skip },
  async () => {
    const running = seal()
    await until(() => running.sealer.state().origin !== undefined)
    await five.kill(1, 2, 3)
    await post(2)
    await until(() => /three signatures|signers/.test(running.sealer.state().reason ?? ''))
    equal(await isSealed(posted - 1), false)
    await post(2)
    await five.start(2)
    await until(() => isSealed(posted - 1))
    await verified(posted - 2)
    await five.start(1, 3)
    await running.stop()
  },
)

test(
  'a sealer that dies between signature and save is followed by one that goes on',
  { skip },
  async () => {
    let failures = 1
    const failing: ReceiptStore = {
      ...store,
      saveCheckpoint: async (...args) => {
        if (failures-- > 0) throw new RangeError('planted: the connection broke')
        await store.saveCheckpoint(...args)
      },
    }
    await post(5)
    const running = seal(failing)
    await until(() => isSealed(posted - 1))
    equal(failures < 1, true)
    await verified(posted - 1)
    await running.stop()
  },
)

test(
  'a second sealer waits for the first, and one that was paused is fenced',
  { skip },
  async () => {
    const first = createLeadership(state)
    const epoch = await first.lead(AbortSignal.timeout(60_000))
    const second = createLeadership(state)
    const waiting = second.lead(AbortSignal.timeout(20_000))
    const early = await Promise.race([waiting, sleep(300).then(() => 'waits')])
    equal(early, 'waits')
    await first[Symbol.asyncDispose]()
    const next = await waiting
    equal(next, epoch + 1)
    const [shard] = await store.shards()
    ok(shard)
    const forged = { origin: shard.origin, size: posted + 1, root: Buffer.alloc(32), note: 'x' }
    await rejects(store.saveCheckpoint(epoch, forged, []), { code: 'sealer_fenced' })
    notEqual((await store.latest(shard.origin))?.size, posted + 1)
    await second[Symbol.asyncDispose]()
  },
)

test(
  'the sealer of another schema of the database does not wait for this one',
  { skip },
  async (t) => {
    // As with DATABASE_URL: two products in one database, each in a schema of its own.
    await state.query('create schema other')
    await state.query('create table other.receipt_sealer as table receipt_sealer')
    const address = new URL(url)
    address.searchParams.set('options', '-c search_path=other')
    const other = connectState({ address: { url: address.href }, connections: 1, log })
    const ours = createLeadership(state)
    const theirs = createLeadership(other)
    t.after(async () => {
      for (const each of [ours, theirs, other]) await each[Symbol.asyncDispose]()
      await state.query('drop schema other cascade')
    })
    const epoch = await ours.lead(AbortSignal.timeout(60_000))
    equal(await theirs.lead(AbortSignal.timeout(60_000)), epoch, 'each has an epoch of its own')
  },
)

test('a sealed row that was altered afterwards gives no valid receipt', { skip }, async () => {
  const victim = posted - 1
  await state.query('alter table charges disable trigger all')
  const before = await state.query('select bytes from charges where leaf_index = $1', [victim])
  const alter = (bytes: unknown) =>
    state.query('update charges set bytes = $2 where leaf_index = $1', [victim, bytes])
  await alter(leavesOf(90_000, 90_001)[0]?.bytes)
  const found = await receipts.find(`rcpt_${victim}`)
  ok(found.state === 'sealed')
  const checked = verifyReceipt(formatReceipt(found.receipt), await receipts.keys())
  equal(checked.checks.find((check) => !check.ok)?.name, 'inclusion')
  await alter(before.rows[0]?.['bytes'])
  await state.query('alter table charges enable trigger all')
  await verified(victim)
})

test('a new year begins a shard whose first leaf names the last checkpoint', { skip }, async () => {
  const [old] = await store.shards()
  ok(old)
  const last = await store.latest(old.origin)
  const running = seal()
  wallMs = Date.parse('2027-01-01T00:00:01Z')
  await post(4)
  await until(() => isSealed(posted - 1))
  match(running.sealer.state().origin ?? '', /\/2027$/)
  const receipt = await verified(posted - 1)
  equal(receipt.index, 4)
  equal(receipt.checkpoint?.size, 5)
  const shard = (await store.shards()).at(-1)
  equal(shard?.link, parseNote(last?.note ?? '').body)
  await verified(posted - 5)
  await running.stop()
})

test(
  'a ledger restored to an older size begins a shard that names what was signed',
  { skip },
  async () => {
    const shard = (await store.shards()).at(-1)
    ok(shard)
    const signed = await store.latest(shard.origin)
    // A backup from before the last three charges.
    posted -= 3
    await dropCharges(state, posted)
    await state.query('delete from receipt_checkpoints where origin = $1', [shard.origin])
    await state.query('delete from receipt_tiles where origin = $1', [shard.origin])
    const running = seal()
    await post(2)
    await until(() => isSealed(posted - 1))
    match(running.sealer.state().origin ?? '', /\/2027\.1$/)
    equal((await store.shards()).at(-1)?.link, parseNote(signed?.note ?? '').body)
    await verified(posted - 1)
    await verified(0)
    await running.stop()
  },
)

/** The state as it was before its newest shard, and before the last charges. */
async function restoreBefore(origin: string, charges: number): Promise<void> {
  posted -= charges
  await dropCharges(state, posted)
  await dropShard(state, origin)
}

test(
  'a shard that a second restore, and a third, made forgotten stays on the page of keys',
  { skip },
  async () => {
    const handedOut: string[] = []
    for (const shard of ['2027.2', '2027.3']) {
      const newest = (await store.shards()).at(-1)
      const found = await receipts.find(`rcpt_${posted - 1}`)
      ok(newest !== undefined && found.state === 'sealed')
      handedOut.push(formatReceipt(found.receipt))
      await restoreBefore(newest.origin, 2)
      const running = seal()
      await post(2)
      await until(() => isSealed(posted - 1))
      equal((await store.shards()).at(-1)?.shard, shard)
      await running.stop()
    }
    const keys = await receipts.keys()
    deepEqual(keys.map(({ shard }) => shard).toSorted(compareShards), [
      '2026',
      '2027',
      '2027.1',
      '2027.2',
      '2027.3',
    ])
    for (const text of handedOut) equal(verifyReceipt(text, keys).ok, true)
    await verified(posted - 1)
  },
)

test('one checkpoint of each minute is kept', { skip }, async () => {
  const [shard] = await store.shards()
  ok(shard !== undefined)
  const { rows: epochs } = await state.query<{ epoch: string }>('select epoch from receipt_sealer')
  const newest = await store.latest(shard.origin)
  ok(newest !== undefined)
  await state.query("update receipt_checkpoints set sealed_at = sealed_at - interval '1 hour'")
  const { rows: earlier } = await state.query('select size from receipt_checkpoints')
  const save = (size: number) =>
    store.saveCheckpoint(Number(epochs[0]?.epoch), { ...newest, size }, [])
  for (const more of [1, 2, 3]) await save(newest.size + more)
  const { rows: later } = await state.query('select size from receipt_checkpoints')
  // Two, when a minute turned in between.
  ok([1, 2].includes(later.length - earlier.length), `${earlier.length} and then ${later.length}`)
  equal((await store.latest(shard.origin))?.size, newest.size + 3)
})

const alarms = () => alarmsOf(state, 'signer_share_lost')

test(
  'a share that is lost while four sign is seen: one line, one alarm, a figure',
  { skip },
  async (t) => {
    const lines: string[] = []
    const watch = createSignerWatch({
      signers: quorum,
      store: signerStore,
      clock,
      log: createLogger('test', { level: 'info', write: (line) => void lines.push(line) }),
      lookMs: 20,
    })
    const stopping = new AbortController()
    const watching = watch.run(stopping.signal)
    t.after(() => stopping.abort())
    const running = seal()
    await until(async () => (await signerStore.ready()) === 5)
    await loseShares(five, 3)
    const told = () => lines.filter((line) => line.includes('"signer":3'))
    await until(async () => (await signerStore.ready()) === 4 && /"none"/.test(told().join()))
    await post(2)
    await until(() => isSealed(posted - 1))
    const looks = told().map((line) => /"(none|silent|ready)"/.exec(line)?.[1])
    ok(
      looks.every((look, nth) => look !== looks[nth - 1]),
      `each change once: ${looks.join()}`,
    )
    await until(() => watch.seen()[2]?.share === 'none')
    stopping.abort()
    await watching
    // The next watcher, or one after an absence, reports no second loss.
    for (const share of ['silent', 'none'] as const)
      await signerStore.save(watch.seen().with(2, { index: 3, share }))
    deepEqual(await alarms(), [{ signer: 3, share: 'none' }])
    await running.stop()
  },
)

test(
  'with three shares lost the reason names them; with five no key is made',
  { skip },
  async () => {
    const running = seal()
    await post(1)
    await until(() => isSealed(posted - 1))
    const { origin } = running.sealer.state()
    await loseShares(five, 1, 2)
    await post(1)
    await until(() =>
      /signer 1 has no share, signer 2 has no share, signer 3/.test(
        running.sealer.state().reason ?? '',
      ),
    )
    equal(running.sealer.state().origin, origin, 'what was sealed last is still known')
    await loseShares(five, 4, 5)
    await until(() =>
      /no signer has a share of the key of the log/.test(running.sealer.state().reason ?? ''),
    )
    equal(await signerStore.mayMakeKey(), false)
    deepEqual(
      (await quorum.shares(AbortSignal.timeout(60_000))).map(({ share }) => share),
      Array(5).fill('none'),
    )
    equal(await isSealed(posted - 1), false)
    await verified(posted - 2)
    await running.stop()
  },
)
