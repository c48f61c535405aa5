import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { chargeOf, leavesOf, overcharged } from '#tlog/charge.fixture.ts'
import {
  isSignedBy,
  originOf,
  parseNote,
  publicKeyPem,
  SIGNATURE_BYTES,
  type Checkpoint,
} from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { EMPTY_FRONTIER, extend, frontierRoot } from '#tlog/tree.ts'
import { createQuorum, type Quorum } from './client.ts'
import { fiveSigners } from './five-signers.fixture.ts'

// One group of five processes serves the tests of this file in order: each grows the same log.
const five = fiveSigners()
const lines: string[] = []
const WAITS = 'Waits for the signers'
const log = createLogger('test', { write: (line) => void lines.push(line) })
const { signal } = new AbortController()
let quorum: Quorum
let publicKey: Buffer
let contents: LeafContent[] = []

before(async () => {
  quorum = createQuorum({ sockets: five.sockets, log, silenceMs: 2_000 })
  // As at every start: the process that asks for the key runs before the signers.
  const opened = quorum.open(signal)
  while (!lines.some((line) => line.includes(WAITS))) await sleep(5)
  await five.start()
  publicKey = await opened
})
after(async () => {
  await quorum?.close()
  await five.stop()
})

const headOf = (leaves: readonly LeafContent[]): Checkpoint => ({
  origin: originOf(publicKey, '2026'),
  size: leaves.length,
  root: frontierRoot(extend(EMPTY_FRONTIER, leaves.map(leafOf))),
})

const sign = (leaves: readonly LeafContent[], by: Quorum = quorum): Promise<string> =>
  by.sign(headOf(leaves), async (from, limit) => leaves.slice(from, from + limit), signal)

/** The number of signers whose last head has that size. */
const signedBy = async (size: number): Promise<number> =>
  (await quorum.positions(signal)).filter((each) => each?.size === size).length

async function grow(count: number, by: Quorum = quorum): Promise<string> {
  contents = [...contents, ...leavesOf(contents.length, contents.length + count)]
  const note = await sign(contents, by)
  ok(isSignedBy(parseNote(note), originOf(publicKey, '2026'), publicKey))
  return note
}

test('five processes make a key that a second client finds again', async () => {
  equal(publicKey.length, 32)
  const second = createQuorum({ sockets: five.sockets, log })
  deepEqual(await second.open(signal), publicKey)
  await second.close()
  for (const index of [1, 2, 3, 4, 5]) {
    const path = join(five.folderOf(index), 'share.json')
    equal(statSync(path).mode & 0o777, 0o600)
    equal(statSync(five.folderOf(index)).mode & 0o777, 0o700)
  }
  const shares = [1, 2, 3, 4, 5].map(
    (index) =>
      JSON.parse(readFileSync(join(five.folderOf(index), 'share.json'), 'utf8')).signingShare,
  )
  equal(new Set(shares).size, 5)
})

test('signers that come up one after another are no warning', () => {
  const waits = lines.filter((line) => line.includes(WAITS))
  ok(waits.length > 0)
  for (const line of waits) match(line, /"level":"info"/)
})

test('a growing log is signed by signers in turn, and openssl accepts the signature', async (t) => {
  for (const count of [1, 2, 600, 1, 40]) await grow(count)
  const note = await grow(1)
  equal(await signedBy(contents.length), 3)
  if (spawnSync('openssl', ['version']).status !== 0) return t.skip('openssl is not installed')
  const { body, signatures } = parseNote(note)
  const paths = ['body', 'signature', 'key.pem'].map((name) => join(five.folder, name))
  const [bodyPath = '', signaturePath = '', keyPath = ''] = paths
  writeFileSync(bodyPath, body)
  writeFileSync(signaturePath, signatures[0]!.signature)
  writeFileSync(keyPath, publicKeyPem(publicKey))
  equal(signatures[0]!.signature.length, SIGNATURE_BYTES)
  const key = ['-inkey', keyPath, '-pubin', '-rawin']
  const given = ['-in', bodyPath, '-sigfile', signaturePath]
  const openssl = spawnSync('openssl', ['pkeyutl', '-verify', ...key, ...given])
  equal(openssl.status, 0, openssl.stderr.toString())
})

test('the same head may be asked for again', async () => {
  await sign(contents)
  await sign(contents)
})

test('two of five killed: signing goes on; three: it waits, and resumes when they are back', async () => {
  await five.kill(1, 4)
  await grow(3)
  await five.kill(2)
  await rejects(grow(1), { code: 'signers_unavailable' })
  await five.start(2)
  await sign(contents)
  await five.start(1, 4)
  await five.kill(3, 5)
  await grow(700)
  await five.start(3, 5)
  await grow(1)
})

test('a fork, a shorter log and another log’s name are refused by all', async () => {
  // By turns, so that each of the five has signed this head: one that had not would sign the fork instead,
  // which makes no signature of three.
  while ((await signedBy(contents.length)) < five.sockets.length) await sign(contents)
  const forked = [...contents.slice(0, -1), leavesOf(9_999, 10_000)[0]!]
  await rejects(sign(forked), { code: 'signers_refused', message: /another tree head/ })
  await rejects(sign(contents.slice(0, 5)), {
    code: 'signers_refused',
    message: /Signed \d+ leaves/,
  })
  const foreign = { ...headOf(contents), origin: originOf(Buffer.alloc(32), '2026') }
  await rejects(
    quorum.sign(foreign, async () => contents, signal),
    { code: 'signers_refused', message: /Not a log of this key/ },
  )
  const lied = { ...headOf([...contents, ...leavesOf(9_998, 9_999)]), root: Buffer.alloc(32, 7) }
  const reader = async (from: number) => [...contents, ...leavesOf(9_998, 9_999)].slice(from)
  await rejects(quorum.sign(lied, reader, signal), { code: 'signers_refused' })
  await grow(1)
})

test('a leaf that is overcharged, or is no charge, is refused by all and the log goes on without it', async () => {
  for (const leaf of [
    overcharged(contents.length),
    { accountSeq: 1n, bytes: Buffer.from('{}') },
    { accountSeq: 0n, bytes: Buffer.from(JSON.stringify(chargeOf(1))) },
  ]) {
    await rejects(sign([...contents, leaf]), { code: 'signers_refused', message: /eaf \d+/ })
  }
  await grow(1)
})

test('an error of the log that is read is the caller’s, not a signer’s', async () => {
  contents = [...contents, ...leavesOf(contents.length, contents.length + 1)]
  const broken = async () => Promise.reject(new RangeError('the store is away'))
  await rejects(quorum.sign(headOf(contents), broken, signal), /the store is away/)
  await sign(contents)
})

test('leaves that were sent ahead are not read again for the head', async () => {
  contents = [...contents, ...leavesOf(contents.length, contents.length + 700)]
  const ahead = contents
  quorum.prepare(originOf(publicKey, '2026'), ahead.length, async (from, limit) =>
    ahead.slice(from, from + limit),
  )
  const broken = async () => Promise.reject(new RangeError('the store is away'))
  const isSigned = async (): Promise<boolean> => {
    try {
      await quorum.sign(headOf(ahead), broken, signal)
      return true
    } catch (error) {
      match(String(error), /the store is away/)
      return false
    }
  }
  while (!(await isSigned())) await sleep(20, signal)
})

test('a signer ends cleanly when its parent is gone and on SIGTERM, and goes on after', async () => {
  equal(await five.end(5, 'parent gone'), 0)
  equal(await five.end(4, 'SIGTERM'), 0)
  await five.start(4, 5)
  await five.kill(1, 2)
  await grow(1)
})

test('a signer without its share says nothing of what was signed, and goes on from it with the share', async () => {
  await five.start()
  while ((await signedBy(contents.length)) < five.sockets.length) await sign(contents)
  const share = join(five.folderOf(3), 'share.json')
  await five.kill(3)
  renameSync(share, `${share}.lost`)
  await five.start(3)
  equal((await quorum.positions(signal)).length, 4)
  await five.kill(3)
  renameSync(`${share}.lost`, share)
  await five.start(3)
  equal(await signedBy(contents.length), 5)
})
