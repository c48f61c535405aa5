import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { chargeBytes } from '#contract/ledger/charge.ts'
import { chargeOf, leavesOf } from './charge.fixture.ts'
import {
  checkpointBody,
  compareShards,
  formatNote,
  isSignedBy,
  originOf,
  parseCheckpoint,
  parseNote,
  shardOf,
  verifierKey,
} from './checkpoint.ts'
import { parseReceiptKeys, receiptKeysJson, type ReceiptKey } from './keys.ts'
import { leafOf } from './leaf.ts'
import { formatReceipt, parseReceipt, receiptJson, type Receipt } from './proof.ts'
import { EMPTY_EDGE, edgeFrontier, extendTiles, inclusionProof } from './tiles.ts'
import { frontierRoot } from './tree.ts'
import { verifyReceipt } from './verify.ts'

// A log of seven receipts with an ordinary Ed25519 key; the threshold key is tested in signers/.
async function makeLog(index = 4): Promise<{ receipt: Receipt; keys: ReceiptKey[] }> {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const contents = leavesOf(0, 7)
  const { edge, written } = extendTiles(EMPTY_EDGE, contents.map(leafOf))
  const origin = originOf(publicKey, '2026')
  const root = frontierRoot(edgeFrontier(edge))
  const body = checkpointBody({ origin, size: 7, root })
  const checkpoint = formatNote(body, sign(null, Buffer.from(body), pair.privateKey), publicKey)
  const proof = await inclusionProof(index, 7, async () => written)
  return {
    receipt: {
      ...contents[index]!,
      bytes: Buffer.from(contents[index]!.bytes),
      index,
      proof,
      checkpoint,
    },
    keys: [{ origin, shard: '2026', publicKey, validFrom: '2026-01-01T00:00:00.000Z' }],
  }
}

const failing = (text: string, keys: readonly ReceiptKey[]) =>
  verifyReceipt(text, keys).checks.find((check) => !check.ok)?.name

test('verifyReceipt() accepts a receipt as text and as JSON, and names every check', async () => {
  const { receipt, keys } = await makeLog()
  for (const text of [
    formatReceipt(receipt),
    JSON.stringify(receiptJson('rcpt_4', receipt), null, 2),
  ]) {
    const verified = verifyReceipt(text, keys)
    deepEqual(
      verified.checks.map(({ name, ok: held }) => [name, held]),
      ['format', 'key', 'signature', 'inclusion', 'charge'].map((name) => [name, true]),
    )
    equal(verified.charge?.id, 'rcpt_4')
    equal(verified.accountSeq, 5n)
    equal(verified.checkpoint?.size, 7)
  }
  deepEqual(parseReceipt(formatReceipt(receipt)), receipt)
})

test('verifyReceipt() refuses a receipt with any one part changed, by the name of the part', async () => {
  const { receipt, keys } = await makeLog()
  const other = await makeLog(3)
  const change = (part: Partial<Receipt>) => formatReceipt({ ...receipt, ...part })
  const dearer = Buffer.from(
    receipt.bytes.toString().replace(/"charge_pusd":"\d+"/, '"charge_pusd":"9"'),
  )
  equal(failing(change({ bytes: dearer }), keys), 'inclusion')
  equal(failing(change({ accountSeq: 6n }), keys), 'inclusion')
  equal(failing(change({ index: 3 }), keys), 'inclusion')
  equal(failing(change({ index: 7 }), keys), 'inclusion')
  equal(failing(change({ proof: receipt.proof.slice(1) }), keys), 'inclusion')
  equal(failing(change({ proof: other.receipt.proof }), keys), 'inclusion')
  equal(failing(change({ checkpoint: other.receipt.checkpoint }), keys), 'key')
  equal(
    failing(change({ checkpoint: receipt.checkpoint.replace('\n7\n', '\n8\n') }), keys),
    'signature',
  )
  equal(failing(change({ checkpoint: receipt.checkpoint.slice(0, -9) }), keys), 'format')
  equal(failing(formatReceipt(receipt), other.keys), 'key')
  equal(failing(formatReceipt(receipt).replace('@v1', '@v2'), keys), 'format')
  equal(failing('', keys), 'format')
})

test('verifyReceipt() refuses a signed charge whose price does not follow from its energy', async () => {
  const { keys } = await makeLog()
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const bytes = chargeBytes({ ...chargeOf(0), charge_pusd: '999999' })
  const leaf = leafOf({ accountSeq: 1n, bytes })
  const origin = originOf(publicKey, '2026')
  const body = checkpointBody({ origin, size: 1, root: leaf })
  const checkpoint = formatNote(body, sign(null, Buffer.from(body), pair.privateKey), publicKey)
  const text = formatReceipt({ accountSeq: 1n, bytes, index: 0, proof: [], checkpoint })
  equal(failing(text, [{ ...keys[0]!, origin, publicKey }]), 'charge')
})

test('the JSON form is refused when its readable charge or its id is not the proven one', async () => {
  const { receipt, keys } = await makeLog()
  const json = receiptJson('rcpt_4', receipt)
  equal(
    failing(JSON.stringify({ ...json, charge: { ...chargeOf(4), charge_pusd: '1' } }), keys),
    'format',
  )
  equal(failing(JSON.stringify({ ...json, id: 'rcpt_5' }), keys), 'format')
  equal(failing(JSON.stringify({ ...json, account_seq: 5 }), keys), 'format')
  equal(failing('{', keys), 'format')
})

test('a note of the specification’s example verifies with its key, and not when altered', () => {
  const name = 'example.com/foo'
  const publicKey = Buffer.from('AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k', 'base64').subarray(
    1,
  )
  const text =
    'This is an example message.\n\n— example.com/foo ' +
    'Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
  equal(
    verifierKey(name, publicKey),
    `${name}+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k`,
  )
  equal(isSignedBy(parseNote(text), name, publicKey), true)
  equal(isSignedBy(parseNote(text.replace('an example', 'no example')), name, publicKey), false)
  equal(isSignedBy(parseNote(text), 'example.com/bar', publicKey), false)
})

test('parseCheckpoint() refuses extension lines, other spellings of a number, and short roots', () => {
  const root = Buffer.alloc(32, 7)
  const body = checkpointBody({ origin: 'ergon-00/2026', size: 12, root })
  deepEqual(parseCheckpoint(body), { origin: 'ergon-00/2026', size: 12, root })
  for (const bad of [
    `${body}extension\n`,
    body.replace('12', '012'),
    body.replace('12', '-1'),
    body.replace('12', '1e3'),
    body.replace('12', '9999999999999999'),
    body.slice(0, -1),
    body.replace('=\n', '\n'),
    body.replace('ergon', 'er gon'),
  ])
    throws(() => parseCheckpoint(bad), { code: 'receipt_invalid' }, bad)
})

test('an origin names its own key, and shards are ordered by year and count', () => {
  const key = Buffer.alloc(32, 1)
  equal(shardOf(originOf(key, '2026.2'), key), '2026.2')
  equal(shardOf(originOf(key, '2026'), Buffer.alloc(32, 2)), undefined)
  equal(shardOf(originOf(key, '2026/1'), key), undefined)
  deepEqual(['2027', '2026.10', '2026', '2026.9'].toSorted(compareShards), [
    '2026',
    '2026.9',
    '2026.10',
    '2027',
  ])
})

test('parseReceiptKeys() reads what receiptKeysJson() prints and refuses a swapped key', async () => {
  const { keys } = await makeLog()
  const text = JSON.stringify(receiptKeysJson(keys))
  deepEqual(parseReceiptKeys(text), keys)
  const swapped = text.replace(
    keys[0]!.publicKey.toString('base64'),
    Buffer.alloc(32).toString('base64'),
  )
  throws(() => parseReceiptKeys(swapped), { code: 'receipt_keys_invalid' })
  throws(() => parseReceiptKeys('[]'), { code: 'receipt_keys_invalid' })
})

test('the commands of docs/guide/receipts.md verify a receipt with openssl alone', async (t) => {
  if (spawnSync('openssl', ['version']).status !== 0) return t.skip('openssl is not installed')
  const guide = readFileSync(new URL('docs/guide/receipts.md', ROOT), 'utf8')
  const commands = /```sh openssl\n([\s\S]*?)```/.exec(guide)?.[1]
  ok(commands, 'the guide shows the commands')
  const { receipt, keys } = await makeLog()
  const folder = mkdtempSync(join(tmpdir(), 'ergon-receipt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const other = await makeLog()
  const run = (text: string, indent = 0) => {
    const list = JSON.stringify(receiptKeysJson([...other.keys, ...keys]), null, indent)
    writeFileSync(join(folder, 'receipt-keys.json'), list)
    writeFileSync(join(folder, 'rcpt.tlog-proof'), text)
    return spawnSync('sh', ['-ec', commands], { cwd: folder, encoding: 'utf8' })
  }
  const good = run(formatReceipt(receipt))
  equal(good.status, 0, good.stderr)
  equal(run(formatReceipt(receipt), 2).status, 0, 'the list of keys may be indented')
  ok(/Verified Successfully/.test(good.stdout))
  const leaf = leafOf(receipt).toString('base64')
  ok(good.stdout.includes(leaf), 'the commands print the leaf hash')
  const forged = { ...receipt, checkpoint: receipt.checkpoint.replace('\n7\n', '\n8\n') }
  ok(run(formatReceipt(forged)).status !== 0, 'a forged checkpoint is refused')
})

const ROOT = new URL(import.meta.resolve('#tlog/verify.ts')).href.replace(/src\/tlog\/.*$/, '')
