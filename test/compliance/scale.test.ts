// A pack of many receipts: made and checked in memory that does not grow with them. ERGON_LONG=1 takes a million.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { nj } from '#base/units.ts'
import { chargeBytes, type Charge } from '#contract/charge.ts'
import { writeContent } from '#compliance/build/build-pack.ts'
import { openPackZip } from '#compliance/build/zip.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { openReceiptBatches } from '#receipts/batch.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import type { State } from '#state/connect.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { checkpointBody, formatNote, originOf } from '#tlog/checkpoint.ts'
import { receiptKeysJson } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { formatReceipt } from '#tlog/proof.ts'
import { edgeFrontier, EMPTY_EDGE, extendTiles } from '#tlog/tiles.ts'
import { frontierRoot } from '#tlog/tree.ts'
import { sha256Hex } from './pack-copy.ts'

const run = promisify(execFile)
const RECEIPTS = process.env['ERGON_LONG'] === '1' ? 1_000_000 : 5000
const BATCH = 5000
/** Beyond what the process has before: pages of a thousand receipts, tiles and compression. */
const GROWTH_BYTES_MAX = 160 * 1024 * 1024
const SAMPLE_MS = 100
const CLI = join(import.meta.dirname, '../../src/cli/ergon.mjs')
const START_MS = Date.parse('2026-11-21T00:00:00.000Z')
const PACK = { id: 'pack_scale', account: 'acct_1', ceilingNj: nj(0n) }
const SPAN = { from: new Date(START_MS), to: new Date(START_MS + 86_400_000) }

const folder = mkdtempSync(join(tmpdir(), 'ergon-evidence-scale-'))
after(() => rmSync(folder, { recursive: true }))
const pair = generateKeyPairSync('ed25519')
const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
const signed = (body: string) =>
  formatNote(body, sign(null, Buffer.from(body), pair.privateKey), publicKey)

/** Ids and salts do not compress, as those of a service. */
function chargeAt(nth: number): Charge {
  const at = new Date(START_MS + Math.floor((nth * 86_000_000) / RECEIPTS)).toISOString()
  const body = `01m8${sha256Hex(String(nth)).slice(0, 22)}`
  const salt = createHash('sha256').update(`salt ${nth}`).digest('base64url').slice(0, 22)
  return { ...chargeOf(nth), id: `rcpt_${body}`, request: `req_${body}`, from: at, to: at, salt }
}

async function fill(state: State): Promise<void> {
  const origin = originOf(publicKey, '2026')
  await state.query(`insert into accounts (id, env) values ('acct_1', 'live')`)
  await state.query(
    `insert into receipt_shards (origin, shard, public_key, first_leaf, valid_from) values ($1, '2026', $2, 0, now())`,
    [origin, publicKey],
  )
  let edge = EMPTY_EDGE
  for (let first = 0; first < RECEIPTS; first += BATCH) {
    const charges = Array.from({ length: BATCH }, (_, nth) => chargeAt(first + nth))
    const bytes = charges.map(chargeBytes)
    await state.query(
      `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status, energy_nj,
         carbon_pg, charge_pusd, free, to_at, hash, bytes)
       select 'gw-1.1', $1::bigint + n, 'rcpt_' || ($1::bigint + n - 1), 'acct_1', $1::bigint + n, $1::bigint + n - 1,
         'chat.create', 200, 0, 0, 0, false, at, '', bytes
       from unnest($2::timestamptz[], $3::bytea[]) with ordinality as made (at, bytes, n)`,
      [first, charges.map(({ to }) => to), bytes],
    )
    const leaves = bytes.map((one, nth) =>
      leafOf({ accountSeq: BigInt(first + nth + 1), bytes: one }),
    )
    const grown = extendTiles(edge, leaves)
    edge = grown.edge
    for (const { level, index, hashes } of grown.written)
      await state.query(
        `insert into receipt_tiles (origin, level, index, hashes) values ($1, $2, $3, $4)
         on conflict (origin, level, index) do update set hashes = excluded.hashes`,
        [origin, level, index, hashes],
      )
  }
  const root = frontierRoot(edgeFrontier(edge))
  await state.query(
    'insert into receipt_checkpoints (origin, size, root, note) values ($1, $2, $3, $4)',
    [origin, RECEIPTS, root, signed(checkpointBody({ origin, size: RECEIPTS, root }))],
  )
  await state.query('analyze charges')
}

/** The receipt that signs a manifest, of a log of one leaf. */
function signatureOf(manifest: string): string {
  const origin = originOf(publicKey, '2026.1')
  const charge = { ...chargeOf(0), operation: 'pack.build', subject_sha256: sha256Hex(manifest) }
  const content = { accountSeq: 1n, bytes: chargeBytes(charge) }
  const body = checkpointBody({ origin, size: 1, root: leafOf(content) })
  return formatReceipt({ ...content, index: 0, proof: [], checkpoint: signed(body) })
}

/** The most memory that this process has while work goes on, beyond what it had. */
async function growthOf(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), SAMPLE_MS)
  await work().finally(() => clearInterval(timer))
  return most - before
}

test('a pack is made and checked in bounded memory', { skip: whyNoState() }, async (t) => {
  await using server = await openTestUrl({ fsync: 'off', max_wal_size: '2GB' })
  await using state = (await openTestState({ urlOf: server.of, schemas: SCHEMAS, connections: 2 }))
    .state
  await fill(state)
  const receipts = createSqlReceiptStore(state)
  const { signal } = new AbortController()
  const file = join(folder, 'pack.zip')
  const begun = process.cpuUsage()
  const growth = await growthOf(async () => {
    const zip = openPackZip(new Date(START_MS), signal)
    const writing = pipeline(zip.bytes, createWriteStream(file))
    const range = { first: 1n, last: BigInt(RECEIPTS) }
    const settled = {
      pack: { ...PACK, ...SPAN },
      range,
      batches: await openReceiptBatches(receipts),
    }
    const call = { mark: () => undefined, progress: () => undefined, signal }
    await writeContent({ state, receipts }, settled, zip, call)
    const manifest = zip.manifest()
    await zip.add('manifest.sha256', [manifest])
    await zip.add('manifest.tlog-proof', [signatureOf(manifest)])
    zip.end()
    await writing
  })
  const { user, system } = process.cpuUsage(begun)
  const bytes = statSync(file).size
  t.diagnostic(
    `${RECEIPTS} receipts: ${((user + system) / RECEIPTS).toFixed(0)} µs of CPU and ${(bytes / RECEIPTS).toFixed(0)} bytes a receipt, ${(growth / 1e6).toFixed(0)} MB of memory more`,
  )
  assert.ok(growth < GROWTH_BYTES_MAX, `${growth} bytes`)
  const keys = join(folder, 'keys.json')
  const validFrom = '2026-01-01T00:00:00.000Z'
  const shards = ['2026', '2026.1'].map((shard) => {
    return { origin: originOf(publicKey, shard), shard, publicKey, validFrom }
  })
  writeFileSync(keys, JSON.stringify(receiptKeysJson(shards)))
  const checked = performance.now()
  const flags = ['--max-old-space-size=192', CLI, 'evidence', 'verify', file, '--keys', keys]
  const { stdout } = await run(process.execPath, flags)
  t.diagnostic(`checked in ${((performance.now() - checked) / 1000).toFixed(1)} s`)
  assert.match(stdout, new RegExp(`ok +receipts +${RECEIPTS} receipts`))
})
