// ergon receipt verify at a service that answers with the sound receipt of another charge.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { receiptKeysJson } from '#tlog/keys.ts'
import { rowOf } from '#tlog/charge.fixture.ts'
import { keyPair, makeShard } from '#tlog/shard.fixture.ts'

const DOOR = join(import.meta.dirname, 'ergon.mjs')

suite('the receipt of another charge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-asked-'))
  const pins = join(folder, 'ergon/receipt-keys.json')
  const log = makeShard(keyPair(), '2026', { count: 3 })
  let server: Server
  before(async () => {
    const other = await log.receipt(1)
    const row = rowOf(1)
    server = createServer(({ url = '' }, response) => {
      const isReceipt = url.startsWith('/v1/receipts/')
      response.setHeader('content-type', isReceipt ? 'text/plain' : 'application/json')
      const page = url.startsWith('/v1/ledger') ? { data: [row] } : receiptKeysJson([log.key])
      response.end(isReceipt ? other : JSON.stringify(page))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  async function verify(...words: string[]) {
    const { port } = server.address() as AddressInfo
    const env = {
      ...process.env,
      XDG_CONFIG_HOME: folder,
      ERGON_BASE_URL: `http://127.0.0.1:${port}`,
      ERGON_TOKEN: `svc_${'a'.repeat(38)}`,
    }
    const child = spawn(process.execPath, [DOOR, 'receipt', 'verify', ...words], { env })
    const ended = once(child, 'exit')
    const [out, told] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await ended) as [number]
    return { code, out, told }
  }
  const heads = () =>
    existsSync(pins)
      ? (JSON.parse(readFileSync(pins, 'utf8')) as { heads?: readonly object[] }).heads?.length
      : undefined

  for (const id of ['rcpt_0', 'req_0'])
    test(`does not hold for ${id}, and its head is not kept`, async () => {
      const { code, out, told } = await verify(id)
      assert.equal(code, 6, out + told)
      const other = id.replace('0', '1')
      assert.match(
        out,
        new RegExp(`FAIL asked +This is the receipt of ${other}, and ${id} was asked for`),
      )
      assert.doesNotMatch(
        out,
        /^ {5}(price|energy) /m,
        'the figures of the other charge are not shown',
      )
      assert.match(told, /was asked for/)
      assert.equal(heads(), 0)
    })

  for (const id of ['rcpt_1', 'req_1'])
    test(`holds for its own id ${id}`, async () => {
      const { code, out, told } = await verify(id)
      assert.equal(code, 0, out + told)
      assert.match(out, new RegExp(`ok +asked +This is the receipt of ${id}`))
    })
})
