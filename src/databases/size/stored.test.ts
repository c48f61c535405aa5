import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createStoredReader } from './stored.ts'

const read = createStoredReader()
const { signal } = new AbortController()

test("an account's tables, kept files, log and temporary files count, and the service's databases do not", async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'ergon-stored-'))
  t.after(() => rmSync(data, { recursive: true }))
  const files: Readonly<Record<string, number>> = {
    'base/16384/1259': 8192,
    'base/16384/2619.1': 100,
    'base/1/1259': 1_000_000,
    'base/4/1259': 1_000_000,
    'base/5/1259': 1_000_000,
    'global/pg_control': 10,
    'pg_multixact/members/0000': 20,
    'pg_notify/0000': 30,
    'pg_wal/000000010000000000000001': 5000,
    'pg_wal/archive_status/x.done': 0,
    'base/pgsql_tmp/pgsql_tmp77.0': 400,
    'base/pgsql_tmp/pgsql_tmp77.1': 400,
    'base/pgsql_tmp/pgsql_tmp99.0.fileset/i0of1.p0.0': 200,
    'pg_stat_tmp/pgss_query_texts.stat': 40,
    'postmaster.pid': 5,
  }
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(data, name)), { recursive: true })
    writeFileSync(join(data, name), Buffer.alloc(bytes))
  }
  assert.deepEqual(await read(data, signal), {
    bytes: 8397,
    files: 7,
    walBytes: 5000,
    droppableBytes: 70,
    temporaryBytes: 1000,
    temporaryPids: [77, 99],
  })
})

test('without a cluster there is an error, and no size of nothing', async () => {
  await assert.rejects(read('/nowhere', signal), { code: 'ENOENT' })
})
