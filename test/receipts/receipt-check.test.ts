// The check of receipts after kills (faults/check.ts) against a service that is as it must be, and against planted
// faults of which each must turn it red.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { receiptKeysJson } from '#tlog/keys.ts'
import { keyPair, makeShard, type Made } from '#tlog/shard.fixture.ts'
import { parseTilePath } from '#tlog/tiles.ts'
import { noPins, receiptFaults, type Asks } from '../faults/check.ts'

const pair = keyPair()
const log = makeShard(pair, '2026', { count: 300 })

let server: Server | undefined
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
})

/** Serves a log. Its page has no key before the first receipt is there, as while the signers make theirs. */
async function serve(of: Made): Promise<Asks> {
  let hasKey = false
  const answer = async (url: string): Promise<{ status: number; body: string | Buffer }> => {
    const id = /^\/v1\/receipts\/rcpt_(\d+)$/.exec(url)?.[1]
    const tile = parseTilePath(url.slice(url.indexOf('tile/')))
    if (tile !== undefined) return { status: 200, body: await of.read.tile(of.key.origin, tile) }
    if (id === undefined)
      return { status: 200, body: JSON.stringify(receiptKeysJson(hasKey ? [of.key] : [])) }
    // Unsealed at the first check.
    const isSealed = hasKey
    hasKey = true
    return isSealed
      ? { status: 200, body: await of.receipt(Number(id)) }
      : { status: 202, body: '' }
  }
  const made = createServer((request, response) => {
    void answer(request.url ?? '').then(({ status, body }) => response.writeHead(status).end(body))
  })
  server?.close()
  server = made
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return { port: (made.address() as AddressInfo).port, token: 'none', sql: async () => [] }
}

test('receipts that hold are no fault, though the log had no key at first', async () => {
  const told = ['rcpt_0', 'rcpt_7', 'rcpt_299']
  assert.deepEqual(await receiptFaults(await serve(log), told), [])
})

test('a later look at the log that has grown is no fault', async () => {
  const pins = noPins()
  for (const count of [300, 900]) {
    const ergon = await serve(makeShard(pair, '2026', { count }))
    assert.deepEqual(await receiptFaults(ergon, ['rcpt_5'], { pins }), [])
  }
  assert.equal(pins.heads.get(log.key.origin)?.size, 900)
})

test('planted faults: no receipt, another key, a second history', async () => {
  assert.match((await receiptFaults(await serve(log), []))[0] ?? '', /no client was told/)
  const pins = noPins()
  assert.deepEqual(await receiptFaults(await serve(log), ['rcpt_5'], { pins }), [])
  const remade = await serve(makeShard(keyPair(), '2026.1', { count: 300 }))
  assert.match((await receiptFaults(remade, ['rcpt_5'], { pins }))[0] ?? '', /another key signs/)
  const forked = await serve(makeShard(pair, '2026', { count: 900, first: 'other' }))
  assert.match((await receiptFaults(forked, ['rcpt_5'], { pins }))[0] ?? '', /two histories/)
})
