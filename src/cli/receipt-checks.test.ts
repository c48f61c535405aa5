// ergon receipt verify at a service whose log or ledger does not answer, lacks a part, or says something else.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, suite, test } from 'node:test'
import { chargeBytes } from '#contract/ledger/charge.ts'
import { chargeOf, rowOf } from '#tlog/charge.fixture.ts'
import { PartMissing } from '#tlog/history.ts'
import { receiptKeysJson } from '#tlog/keys.ts'
import { keyPair, makeShard, type Made } from '#tlog/shard.fixture.ts'
import { parseTilePath } from '#tlog/tiles.ts'
import { awayWords } from './receipt-checks.ts'

const DOOR = join(import.meta.dirname, 'ergon.mjs')
const LOGS = '/.well-known/ergon/logs/'

const keys = keyPair()
const small = makeShard(keys, '2026', { count: 300 })
const large = makeShard(keys, '2026', { count: 600 })
const forked = makeShard(keys, '2026', { count: 600, first: 'another beginning' })
const later = makeShard(keys, '2027', { count: 9, link: large.body })
const free = makeShard(keys, '2028', {
  count: 1,
  leaves: () => [
    { accountSeq: 1n, bytes: chargeBytes({ ...chargeOf(0), free: true, charge_pusd: '0' }) },
  ],
})

const row = rowOf(0)

/** Which log gives the receipt, and what else the service answers. */
type Scene = {
  readonly log: Made
  readonly published: readonly Made[]
  readonly tiles: number
  readonly ledger: number
  readonly rows: readonly object[]
}
const HONEST: Scene = { log: small, published: [large], tiles: 200, ledger: 200, rows: [row] }
let scene = HONEST

async function answerOf(url: string): Promise<readonly [number, string | Buffer]> {
  if (url.startsWith('/v1/receipts/')) return [200, await scene.log.receipt(0)]
  if (url.startsWith('/v1/ledger')) return [scene.ledger, JSON.stringify({ data: scene.rows })]
  if (!url.startsWith(LOGS))
    return [200, JSON.stringify(receiptKeysJson(scene.published.map(({ key }) => key)))]
  const [, name = '', shard = '', path = ''] =
    /^([^/]+)\/([^/]+)\/(.*)$/.exec(url.slice(LOGS.length)) ?? []
  const log = scene.published.find(({ key }) => key.origin === `${name}/${shard}`)
  const id = parseTilePath(path)
  if (log === undefined) return [404, '']
  if (id === undefined) return [200, log.note]
  if (scene.tiles !== 200) return [scene.tiles, '']
  return [200, await log.read.tile(log.key.origin, id)]
}

suite('ergon receipt verify', () => {
  let folder = ''
  let server: Server
  before(async () => {
    server = createServer(({ url = '' }, response) => {
      const type =
        url.includes('/receipts/') || url.startsWith(LOGS) ? 'text/plain' : 'application/json'
      response.setHeader('content-type', type)
      answerOf(url).then(
        ([status, body]) => response.writeHead(status).end(body),
        (error: unknown) => response.writeHead(error instanceof PartMissing ? 404 : 500).end(),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(() => {
    scene = HONEST
    folder = mkdtempSync(join(tmpdir(), 'ergon-checks-'))
  })
  after(() => {
    server.close()
  })

  async function verify(changed: Partial<Scene> = {}, ...words: string[]) {
    scene = { ...HONEST, ...changed }
    const { port } = server.address() as AddressInfo
    const env = {
      ...process.env,
      XDG_CONFIG_HOME: folder,
      ERGON_BASE_URL: `http://127.0.0.1:${port}`,
      ERGON_TOKEN: `svc_${'a'.repeat(38)}`,
    }
    const asked = ['receipt', 'verify', 'rcpt_0', ...words]
    const child = spawn(process.execPath, [DOOR, ...asked], { env })
    const ended = once(child, 'exit')
    const [out, told] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await ended) as [number]
    return { code, out, told }
  }
  test('a file says whether no address was given, or no service answers there', () => {
    const { XDG_CONFIG_HOME: before } = process.env
    process.env['XDG_CONFIG_HOME'] = folder
    // A folder without a service.
    const data = folder
    assert.equal(awayWords({ data }), 'no address of its service was given: --base-url')
    assert.match(
      awayWords({ data, baseUrl: 'localhost:9' }),
      /not answer here, at http:\/\/localhost:9$/,
    )
    if (before === undefined) delete process.env['XDG_CONFIG_HOME']
    else process.env['XDG_CONFIG_HOME'] = before
    removed()
  })

  const removed = () => rmSync(folder, { recursive: true })

  test('a tile that is not to be read now is a fault of the way, and a missing tile one of the log', async () => {
    assert.equal((await verify()).code, 0)
    for (const tiles of [503, 502, 429]) {
      const { code, out, told } = await verify({ log: large, tiles })
      assert.equal(code, 1, out + told)
      assert.match(out, /^-- +history +Could not check whether the 600 leaves/m)
      assert.match(told, /the log could not be read: try again/)
      assert.doesNotMatch(told, /old copy/)
    }
    const { out: json } = await verify({ log: large, tiles: 503 }, '--json')
    const { ok, not_checked: unmade } = JSON.parse(json) as Record<string, unknown>
    assert.deepEqual([ok, unmade], [false, ['history']])
    const missing = await verify({ log: large, tiles: 404 })
    assert.equal(missing.code, 6, missing.out + missing.told)
    assert.match(missing.told, /whether an old copy was put back/)
    const again = await verify({ log: large })
    assert.equal(again.code, 0, again.out + again.told)
    assert.match(again.out, /^ok +history/m)
    removed()
  })

  test('another history counts more than a ledger that cannot be read', async () => {
    assert.equal((await verify()).code, 0)
    const { code, out, told } = await verify({ log: forked, published: [forked], ledger: 503 })
    assert.equal(code, 6, out + told)
    assert.match(told, /two histories/)
    removed()
  })

  test('a later log that is not to be read now is no log of a refused key', async () => {
    assert.equal((await verify({ log: large })).code, 0)
    const published = [large, later]
    const away = await verify({ log: later, published, tiles: 503 })
    assert.equal(away.code, 1, away.out + away.told)
    assert.match(away.out, /^-- +key /m)
    assert.match(away.told, /Could not check the key of the log/)
    assert.match(away.told, /the log could not be read: try again/)
    const again = await verify({ log: later, published })
    assert.equal(again.code, 0, again.out + again.told)
    removed()
  })

  test('another row of the ledger does not hold, and a row that cannot be read is not compared', async () => {
    const own = await verify()
    assert.match(own.out, /^ok +ledger +The row of the ledger has the same leaf, joules and price/m)
    const other = await verify({ rows: [{ ...row, energy_nj: '1' }] })
    assert.equal(other.code, 6, other.out + other.told)
    assert.match(other.out, /^FAIL +ledger .*the nanojoules 1, and this receipt/m)
    const away = await verify({ ledger: 503 })
    assert.equal(away.code, 1, away.out + away.told)
    assert.match(away.told, /the ledger could not be read: try again/)
    removed()
  })

  test('a ledger without the row of a paid charge, or with two rows, does not hold', async () => {
    const missing = await verify({ rows: [] })
    assert.equal(missing.code, 6, missing.out + missing.told)
    assert.match(missing.out, /^FAIL +ledger +The ledger has no row of rcpt_0, which has a price/m)
    const refund = await verify({ rows: [{ ...row, kind: 'refund' }] })
    assert.equal(refund.code, 6, refund.out + refund.told)
    const twice = await verify({ rows: [row, { ...row, energy_nj: '1' }] })
    assert.equal(twice.code, 6, twice.out + twice.told)
    assert.match(twice.out, /^FAIL +ledger +The ledger has 2 charges of rcpt_0/m)
    removed()
  })

  test('a ledger that the token may not read, or without the row of a free charge, is not checked', async () => {
    for (const [changed, why] of [
      [{ ledger: 403 }, /^-- +ledger +Not compared with the ledger: this token may not read it/m],
      [{ log: free, published: [free], rows: [] }, /^-- +ledger .*has no row of this id/m],
    ] as const) {
      const { code, out, told } = await verify(changed)
      assert.equal(code, 0, out + told)
      assert.match(out, why)
      const { out: json } = await verify(changed, '--json')
      const { ok, not_checked: unmade } = JSON.parse(json) as Record<string, unknown>
      assert.deepEqual([ok, unmade], [true, ['ledger']])
      removed()
    }
  })
})
