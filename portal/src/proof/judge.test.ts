// A receipt holds by pinned keys alone: a log that the pinned ones do not vouch for is not trusted, whatever signs it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiptKeysJson, type ReceiptKey } from '#tlog/keys.ts'
import { keyPair, makeShard, type Made } from '#tlog/shard.fixture.ts'
import { judge } from './judge.ts'
import { forgetHead, forgetPins, keepHead, pinKeys, pinnedKeys, seenHeads } from './pins.ts'

const ours = keyPair()
const log = makeShard(ours, '2026', { count: 300 })
const next = makeShard(ours, '2027', { count: 9, link: log.body })
const forged = makeShard(keyPair(), '2026', { count: 1 })
const forgedLink = makeShard(keyPair(), '2027', { count: 1, link: log.body })

const listOf = (keys: readonly ReceiptKey[]) => receiptKeysJson(keys)
function browser() {
  const kept = new Map<string, string>()
  const store = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  }
  return {
    store,
    origins: () => pinnedKeys(store).keys.map(({ origin }) => origin),
    async check(of: Made, published: readonly ReceiptKey[], id = 'rcpt_0') {
      const told = listOf(published)
      const asked = {
        id,
        receipt: await of.receipt(0),
        pinned: JSON.stringify(pinnedKeys(store)),
        published: JSON.stringify(told),
        heads: seenHeads(store),
      }
      const verdict = await judge(asked, of.read)
      pinKeys(told, verdict.pinned, store)
      if (verdict.isSound && verdict.head !== undefined) keepHead(verdict.head, store)
      return verdict
    },
  }
}

test('the first answer is pinned, and the next shard of its log is added', async () => {
  const { check, origins } = browser()
  assert.equal((await check(log, [log.key])).isSound, true)
  assert.equal((await check(next, [log.key, next.key])).isSound, true)
  assert.deepEqual(origins(), [log.key.origin, next.key.origin])
  const again = await check(log, [])
  assert.deepEqual([again.isSound, again.pinned], [true, []])
})

test('a log of a foreign key is refused, until the person trusts the service anew', async () => {
  const { check, origins, store } = browser()
  await check(log, [log.key])
  for (const foreign of [forged, forgedLink]) {
    const { isSound, failed, refusedKey } = await check(foreign, [log.key, foreign.key])
    assert.deepEqual([isSound, failed?.check], [false, 'key'])
    assert.match(refusedKey ?? '', /^another key signs it: [0-9a-f]{64}$/)
    assert.deepEqual(origins(), [log.key.origin])
  }
  forgetPins(store)
  assert.equal((await check(forged, [forged.key])).isSound, true)
})

test('a list in which the key of a log was swapped is refused', async () => {
  const swapped = { ...log.key, publicKey: forged.key.publicKey }
  await assert.rejects(browser().check(log, [swapped]), { code: 'receipt_keys_invalid' })
})

test('each receipt must be of one history with the newest head that was seen', async () => {
  const { check, store } = browser()
  const sizes = () => seenHeads(store).map(({ size }) => size)
  const [shorter, longer] = [200, 600].map((count) => makeShard(ours, '2026', { count }))
  assert.ok(shorter !== undefined && longer !== undefined)
  assert.deepEqual([(await check(log, [log.key])).seenSize, sizes()], [undefined, [300]])
  // An older receipt belongs to it, and leaves the newest head.
  const older = await check({ ...shorter, read: log.read }, [log.key])
  assert.deepEqual([older.isSound, older.seenSize, sizes()], [true, 300, [300]])
  assert.deepEqual([(await check(longer, [log.key])).isSound, sizes()], [true, [600]])
  // Another log of the same key, which begins with another leaf.
  const forked = makeShard(ours, '2026', { count: 700, first: 'another beginning' })
  const { isSound, failed } = await check(forked, [log.key])
  assert.deepEqual([isSound, failed?.check, sizes()], [false, 'history', [600]])
  assert.match(failed?.why ?? '', /two histories: its 701 leaves/)
  // A log that went back to an old copy has no tiles of what was seen.
  const back = await check(log, [log.key])
  assert.deepEqual([back.isSound, back.failed?.check], [false, 'history'])
  assert.match(back.failed?.why ?? '', /its 300 leaves go with the 600 that this browser saw/)
  forgetHead(log.key.origin, store)
  assert.equal((await check(forked, [log.key])).isSound, true)
})

test('a sound receipt of another charge does not hold, and its head is not kept', async () => {
  const { check, store } = browser()
  for (const id of ['rcpt_1', 'req_1']) {
    const { isSound, failed } = await check(log, [log.key], id)
    assert.deepEqual([isSound, failed?.check], [false, 'asked'])
    assert.match(failed?.why ?? '', new RegExp(`_0, and ${id} was asked for$`))
    assert.deepEqual(seenHeads(store), [])
  }
  assert.equal((await check(log, [log.key], 'req_0')).isSound, true)
})

test('a log that cannot be read is not compared, and is no other history', async () => {
  const { check, store } = browser()
  const longer = makeShard(ours, '2026', { count: 600 })
  await check(log, [log.key])
  const fails = async (): Promise<never> => {
    throw new TypeError('the log answered 503')
  }
  const away = { ...longer, read: { checkpoint: fails, tile: fails } }
  const { isSound, failed, uncompared } = await check(away, [log.key])
  assert.deepEqual([isSound, failed, uncompared], [false, undefined, 'the log answered 503'])
  const sizes = () => seenHeads(store).map(({ size }) => size)
  assert.deepEqual(sizes(), [300], 'its head is not kept')
  assert.equal((await check(longer, [log.key])).uncompared, undefined)
  assert.deepEqual(sizes(), [600])
})

test('a key whose log cannot be read is not checked, and is no refused key', async () => {
  const { check, origins } = browser()
  await check(log, [log.key])
  const published = [log.key, next.key]
  const fails = async (): Promise<never> => {
    throw new TypeError('the log answered 503')
  }
  const away = { ...next, read: { ...next.read, tile: fails } }
  const { isSound, failed, uncompared, refusedKey, charge } = await check(away, published)
  assert.deepEqual(
    [isSound, failed, uncompared, refusedKey, charge],
    [false, undefined, 'the log answered 503', undefined, undefined],
  )
  assert.deepEqual(origins(), [log.key.origin], 'the key is not pinned')
  assert.equal((await check(next, published)).isSound, true, 'when the log answers again')
})

test('the head of one log is forgotten alone: keys and other heads stay', async () => {
  const { check, origins, store } = browser()
  await check(log, [log.key])
  await check(next, [log.key, next.key])
  forgetHead(log.key.origin, store)
  assert.deepEqual(
    seenHeads(store).map(({ origin }) => origin),
    [next.key.origin],
  )
  assert.deepEqual(origins(), [log.key.origin, next.key.origin])
})
