// A pack of many receipts: made and checked in memory that does not grow with them. ERGON_LONG=1 takes a million.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { promisify } from 'node:util'
import { nj } from '#base/units.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { openSealedLog, type SealedLog } from '#compliance/sealed-log.fixture.ts'
import { writeContent } from '#compliance/build/build-pack.ts'
import { openPackZip } from '#compliance/build/zip.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { openReceiptBatches } from '#receipts/batch.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
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

/** Ids and salts do not compress, as those of a service. */
function chargeAt(nth: number): Charge {
  const at = new Date(START_MS + Math.floor((nth * 86_000_000) / RECEIPTS)).toISOString()
  const body = `01m8${sha256Hex(String(nth)).slice(0, 22)}`
  const salt = createHash('sha256').update(`salt ${nth}`).digest('base64url').slice(0, 22)
  return { ...chargeOf(nth), id: `rcpt_${body}`, request: `req_${body}`, from: at, to: at, salt }
}

async function fill(log: SealedLog): Promise<void> {
  for (let first = 0; first < RECEIPTS; first += BATCH)
    await log.post(Array.from({ length: BATCH }, (_, nth) => chargeAt(first + nth)))
  await log.seal()
}

/** The charge that signs a manifest. */
const signing = (manifest: string): Charge => ({
  ...chargeOf(0),
  operation: 'pack.build',
  subject_sha256: sha256Hex(manifest),
})

/** The most memory that this process has while work goes on, beyond what it had. */
async function growthOf(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), SAMPLE_MS)
  await work().finally(() => clearInterval(timer))
  return most - before
}

test('a zip keeps nothing of a file that is written', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { signal } = new AbortController()
  const zip = openPackZip(new Date(START_MS), signal)
  const writing = pipeline(zip.bytes, createWriteStream('/dev/null'))
  const kept: WeakRef<Buffer>[] = []
  for (let nth = 0; nth < 20; nth++) {
    const bytes = Buffer.alloc(100_000, nth)
    kept.push(new WeakRef(bytes))
    await zip.add(`file-${nth}`, [bytes])
  }
  await pause(SAMPLE_MS)
  collect()
  // The last ones may be on their way.
  assert.deepEqual(
    kept.slice(0, -3).filter((one) => one.deref() !== undefined),
    [],
  )
  zip.end()
  await writing
})

test('a pack is made and checked in bounded memory', { skip: whyNoState() }, async (t) => {
  await using server = await openTestUrl({ fsync: 'off', max_wal_size: '2GB' })
  await using state = (await openTestState({ urlOf: server.of, schemas: SCHEMAS, connections: 2 }))
    .state
  await state.query(`insert into accounts (id, env) values ($1, 'live')`, [PACK.account])
  const log = await openSealedLog(state)
  await fill(log)
  await state.query('analyze charges')
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
    await writeContent({ state, receipts, pageReceipts: 1000 }, settled, zip, call)
    const manifest = zip.manifest()
    await zip.add('manifest.sha256', [manifest])
    await zip.add('manifest.tlog-proof', [log.receiptOf(signing(manifest))])
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
  writeFileSync(keys, JSON.stringify(log.keys()))
  const checked = performance.now()
  const flags = ['--max-old-space-size=192', CLI, 'evidence', 'verify', file, '--keys', keys]
  const { stdout } = await run(process.execPath, flags)
  t.diagnostic(`checked in ${((performance.now() - checked) / 1000).toFixed(1)} s`)
  assert.match(stdout, new RegExp(`ok +receipts +${RECEIPTS} receipts`))
})
