// ergon receipt verify: by id, from a file, with another's keys, of two histories.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { originOf } from '#tlog/checkpoint.ts'
import { receiptKeysJson } from '#tlog/keys.ts'
import { forgedReceipt } from '../receipts/forged-receipt.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { commandLine } from './command-line.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const { folder, run } = commandLine()

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('a receipt verifies by id and offline from a file; openssl agrees; a changed digit does not', async () => {
  const answer = await fetch(`${ergon.baseUrl}/v1/models`, {
    headers: { authorization: `Bearer ${ergon.token}` },
  })
  const id = answer.headers.get('x-receipt-id') ?? ''
  const file = join(folder, 'receipt.tlog-proof')
  const online = await run(['receipt', 'verify', id, '--out', file])
  assert.equal(online.code, 0, online.stdout + online.stderr)
  assert.match(online.stdout, /signed by/)
  const printed = /energy\s+([\d.]+) J/.exec(online.stdout)?.[1]
  assert.equal(
    printed,
    answer.headers.get('x-energy-joules'),
    'the receipt says what the header said',
  )
  // Offline: no service at that address, only the keys that were pinned.
  const offline = await run(['receipt', 'verify', file], {
    env: { ERGON_BASE_URL: 'http://127.0.0.1:9' },
  })
  assert.equal(offline.code, 0, offline.stdout + offline.stderr)
  const forged = join(folder, 'forged.tlog-proof')
  writeFileSync(forged, forgedReceipt(readFileSync(file, 'utf8')))
  const refused = await run(['receipt', 'verify', forged])
  assert.equal(refused.code, 6, 'exit code 6: the receipt does not hold')
  assert.match(refused.stdout, /FAIL/)
})

const receiptId = async () => {
  const headers = { authorization: `Bearer ${ergon.token}` }
  const answer = await fetch(`${ergon.baseUrl}/v1/models`, { headers })
  return answer.headers.get('x-receipt-id') ?? ''
}

test('two tree heads of one log go together by a consistency proof, or the receipt does not hold', async () => {
  const config = join(folder, 'heads')
  const env = { XDG_CONFIG_HOME: config }
  const files = ['small', 'large'].map((name) => join(folder, `${name}.tlog-proof`))
  const [small = '', large = ''] = files
  for (const file of files) {
    const id = await receiptId()
    const made = await run(['receipt', 'verify', id, '--out', file], { env })
    assert.equal(made.code, 0, made.stdout + made.stderr)
    assert.equal(/ok +history/.test(made.stdout), file === large, made.stdout)
  }
  const pins = join(config, 'ergon/receipt-keys.json')
  const kept = JSON.parse(readFileSync(pins, 'utf8')) as { heads: { size: number; root: string }[] }
  const sizeIn = (file: string) =>
    Number(/^ergon-.*\n(\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '')
  assert.equal(kept.heads[0]?.size, sizeIn(large))
  // The other way round: the one that was seen is larger than that of the receipt.
  const reverse = await run(['receipt', 'verify', small], { env })
  assert.equal(reverse.code, 0, reverse.stdout + reverse.stderr)
  assert.match(reverse.stdout, /ok +history/)
  const away = { env: { ...env, ERGON_BASE_URL: 'http://127.0.0.1:9' } }
  const alone = await run(['receipt', 'verify', small], away)
  assert.equal(alone.code, 0, alone.stdout + alone.stderr)
  assert.match(alone.stderr, /not compared: .*does not answer here/)
  // A client that saw another head than those of this log.
  const root = Buffer.alloc(32).toString('base64')
  const sees = (size: number) =>
    writeFileSync(pins, JSON.stringify({ ...kept, heads: [{ ...kept.heads[0], size, root }] }))
  for (const [size, file] of [
    [sizeIn(small), large],
    [sizeIn(large), small],
    [sizeIn(large), large],
  ] as const) {
    sees(size)
    const refused = await run(['receipt', 'verify', file, '--json'], { env })
    assert.equal(refused.code, 6, refused.stdout + refused.stderr)
    assert.match(refused.stderr, /two histories/)
    assert.equal((JSON.parse(refused.stdout) as { ok: boolean }).ok, false)
    assert.equal(readFileSync(pins, 'utf8').includes(root), true, 'what was seen stays')
  }
  // A log that was never so long: the service has not the tiles that would prove it.
  sees(1_000_000)
  const short = await run(['receipt', 'verify', large], { env })
  assert.equal(short.code, 6, short.stdout + short.stderr)
  assert.match(short.stderr, /Could not check whether the \d+ leaves of .* with the 1000000/)
})

test('each service has pins of its own', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'services') }
  const file = join(folder, 'own.tlog-proof')
  const own = await run(['receipt', 'verify', await receiptId(), '--out', file], { env })
  assert.equal(own.code, 0, own.stdout + own.stderr)
  const later = await run(['receipt', 'verify', await receiptId()], { env })
  assert.equal(later.code, 0, later.stdout + later.stderr)
  let key = randomBytes(32)
  const origin = () => originOf(key, '2026')
  const validFrom = '2026-01-01T00:00:00Z'
  const other = createServer(({ url }, response) => {
    if (url !== '/.well-known/ergon/receipt-keys.json') response.statusCode = 404
    const keys = [{ origin: origin(), shard: '2026', publicKey: key, validFrom }]
    response.end(JSON.stringify(receiptKeysJson(keys)))
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  try {
    const verifyThere = ['--base-url', address, 'receipt', 'verify', file]
    const there = await run(verifyThere, { env })
    assert.equal(there.code, 0, there.stdout + there.stderr)
    assert.match(there.stderr, new RegExp(`pinned at first use of ${address}: ${origin()}`))
    assert.doesNotMatch(there.stderr, /not pinned/)
    assert.match(there.stderr, /not compared: .*its service does not answer here/)
    key = randomBytes(32)
    const swapped = await run(verifyThere, { env })
    assert.match(swapped.stderr, new RegExp(`not pinned: ${origin()}: another key signs it`))
    const here = await run(['receipt', 'verify', file], { env })
    assert.equal(here.code, 0, here.stdout + here.stderr)
    assert.match(here.stdout, /ok +history/)
    assert.doesNotMatch(here.stderr, /pinned/)
    // A file from before there were several services is of the one that is asked first.
    const pins = join(folder, 'services/ergon/receipt-keys.json')
    const { services, ...old } = JSON.parse(readFileSync(pins, 'utf8')) as { services: object }
    assert.deepEqual(Object.keys(services).toSorted(), [address, ergon.baseUrl].toSorted())
    writeFileSync(pins, JSON.stringify(old))
    const asBefore = await run(['receipt', 'verify', file], { env })
    assert.equal(asBefore.code, 0, asBefore.stdout + asBefore.stderr)
    assert.doesNotMatch(asBefore.stderr, /pinned/)
  } finally {
    other.close()
  }
})

test("a receipt of nobody's verifies without a token, an account's does not", async () => {
  const idOf = async (headers: Record<string, string>) =>
    (await fetch(`${ergon.baseUrl}/v1/models`, { headers })).headers.get('x-receipt-id') ?? ''
  const anonymous = { env: { ERGON_TOKEN: '', XDG_CONFIG_HOME: join(folder, 'nobody') } }
  const nobodys = await run(['receipt', 'verify', await idOf({})], anonymous)
  assert.equal(nobodys.code, 0, nobodys.stdout + nobodys.stderr)
  assert.match(nobodys.stdout, /status 401/)
  const accounts = await idOf({ authorization: `Bearer ${ergon.token}` })
  const refused = await run(['receipt', 'verify', accounts], anonymous)
  assert.equal(refused.code, 4, refused.stderr)
  assert.match(refused.stderr, /ERGON_TOKEN/)
})
