// Evidence packs as the service keeps them: whose they are, in which pieces they are sent, which are refused, deleted, or
// made anew after a kill.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PACKS_OPEN_MAX } from '#contract/compliance/compliance.ts'
import { verifyPack } from '#tlog/evidence/verify.mjs'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openPackOwner, type PackOwner } from './owner.ts'
import { filesOf, readPack, textIn } from './pack-copy.ts'

product(PLAIN)
const folder = mkdtempSync(join(tmpdir(), 'ergon-packs-'))
let owner: PackOwner
before(async () => {
  owner = await openPackOwner(sharedErgon())
  // So many that a pack takes a moment.
  await owner.spend(100)
})
after(() => rmSync(folder, { recursive: true }))

const cli = (...words: string[]) =>
  sharedErgon().commands.run({
    words,
    env: { HOME: folder, ERGON_TOKEN: owner.token, ERGON_BASE_URL: sharedErgon().baseUrl },
  })

test('a pack is its account’s alone, in ranges too, and an event tells of it', async () => {
  const { id, from, to } = await owner.ask()
  await owner.until(id, 'ready')
  const whole = Buffer.from(await (await owner.content(id)).arrayBuffer())
  const part = await owner.content(id, { range: 'bytes=10-19' })
  assert.deepEqual(
    [part.status, part.headers.get('content-range')],
    [206, `bytes 10-19/${whole.length}`],
  )
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), whole.subarray(10, 20))
  const beyond = await owner.content(id, { range: `bytes=${whole.length}-` })
  assert.deepEqual(
    [beyond.status, ((await beyond.json()) as { title: string }).title],
    [416, 'pack_range_invalid'],
  )
  const stranger = await openPackOwner(sharedErgon())
  for (const path of ['', '/content']) {
    const { json } = await stranger.call('GET', `/v1/compliance/packs/${id}${path}`)
    assert.equal(json['title'], 'pack_not_found')
  }
  assert.equal((await stranger.call('DELETE', `/v1/compliance/packs/${id}`)).status, 404)
  const events = (await owner.call('GET', '/v1/events')).json['data'] as {
    event: string
    data: object
  }[]
  const told = events.find(({ event }) => event === 'compliance.evidence_ready')
  assert.partialDeepStrictEqual(told?.data, { pack_id: id, from, to })
  assert.equal((await cli('evidence', 'delete', id)).code, 0)
  assert.equal((await owner.content(id)).status, 404)
})

test('a large pack is streamed, and goes on from any byte', async () => {
  const ergon = sharedErgon()
  const { id } = await owner.ask(new Date(Date.now() - 10_000))
  await owner.until(id, 'ready')
  // The bytes of an object of two MiB in the place of the file.
  const headers = { authorization: `Bearer ${owner.token}` }
  for (const [path, body] of [
    ['/large', null],
    ['/large/object', Buffer.alloc(2 * 1024 * 1024, 7)],
  ] as const) {
    const put = await fetch(`${ergon.baseUrl}${path}`, { method: 'PUT', headers, body })
    assert.equal(put.status, 200)
  }
  await ergon.sql(
    `update evidence_packs set blob = (select id from blobs order by size desc limit 1) where id = $1`,
    [id],
  )
  const whole = await owner.content(id)
  assert.equal(whole.headers.get('x-energy-estimate'), 'ceiling')
  const bytes = Buffer.from(await whole.arrayBuffer())
  assert.equal(String(bytes.length), whole.headers.get('content-length'))
  const rest = await owner.content(id, { range: 'bytes=1000-' })
  assert.equal(rest.status, 206)
  assert.ok(Buffer.from(await rest.arrayBuffer()).equals(bytes.subarray(1000)))
  const file = join(folder, 'large.zip')
  assert.equal((await cli('evidence', 'download', id, '-o', file)).code, 0)
  assert.ok(readFileSync(file).equals(bytes))
})

test('a pack that cannot be paid is refused before its work, and so is one too many', async () => {
  const poor = await openPackOwner(sharedErgon(), '100000')
  const now = new Date().toISOString()
  const body = { from: '2026-01-01T00:00:00Z', to: now }
  const unpaid = await poor.call('POST', '/v1/compliance/packs', body)
  assert.deepEqual([unpaid.status, unpaid.json['title']], [402, 'balance_depleted'])
  const busy = await openPackOwner(sharedErgon())
  const ids = await Promise.all(
    Array.from({ length: PACKS_OPEN_MAX }, async () => (await busy.ask()).id),
  )
  const more = await busy.call('POST', '/v1/compliance/packs', body)
  assert.deepEqual([more.status, more.json['title']], [409, 'too_many_packs'])
  assert.equal((await busy.content(ids[0] ?? '')).status, 409)
  const unready = (await (await busy.content(ids[0] ?? '')).json()) as { title: string }
  assert.equal(unready.title, 'pack_not_ready')
  for (const id of ids) await busy.call('DELETE', `/v1/compliance/packs/${id}`)
  assert.deepEqual((await busy.call('GET', '/v1/compliance/packs')).json['data'], [])
})

test('a deleted pack is made no further; a killed process makes its pack anew', async () => {
  const ergon = sharedErgon()
  const past = new Date(Date.now() - 10_000)
  const deleted = await owner.ask(past)
  await owner.until(deleted.id, 'running')
  assert.equal((await owner.call('DELETE', `/v1/compliance/packs/${deleted.id}`)).status, 200)
  const from = new Date(past.getTime() - 2000)
  const killed = await owner.ask(past, from)
  await owner.until(killed.id, 'running')
  await ergon.killCell('packs')
  const { energy_nj: energy } = await owner.until(killed.id, 'ready')
  assert.ok(BigInt(energy) > 0n)
  const content = await readPack(Buffer.from(await (await owner.content(killed.id)).arrayBuffer()))
  await verifyPack(filesOf(content))
  const [spent] = await ergon.sql(
    `select (coalesce(sum(amount), 0) - (select coalesce(sum(charge_pusd), 0) from charges
       where account = $1 and to_at < $2))::text as left
     from transfers where credit = 'money:' || $1 and at < $2`,
    [owner.account, from.toISOString()],
  )
  const { ledger } = JSON.parse(textIn(content, 'summary.json')) as {
    ledger: { opening_pusd: string }
  }
  assert.equal(ledger.opening_pusd, spent?.['left'])
  const events = (await owner.call('GET', '/v1/events?limit=1000')).json['data'] as {
    data: { pack_id?: string }
  }[]
  const told = events.map(({ data }) => data.pack_id)
  assert.ok(told.includes(killed.id) && !told.includes(deleted.id))
  assert.deepEqual(await bookFaults(ergon), [])
})

test('the same Idempotency-Key asks for one pack, and the audit log says who asked', async () => {
  const body = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const key = { 'idempotency-key': 'evidence-1' }
  const first = await owner.call('POST', '/v1/compliance/packs', body, key)
  const again = await owner.call('POST', '/v1/compliance/packs', body, key)
  assert.equal(first.json['id'], again.json['id'])
  const { json } = await owner.call('GET', `/v1/audit?target=${String(first.json['id'])}`)
  const [entry] = json['data'] as { action: string; details: object }[]
  assert.deepEqual([entry?.action, entry?.details], ['pack.create', body])
  // A time without a charge has a pack too.
  const pack = await owner.until(String(first.json['id']), 'ready')
  const empty = await readPack(Buffer.from(await (await owner.content(pack.id)).arrayBuffer()))
  await verifyPack(filesOf(empty))
})
