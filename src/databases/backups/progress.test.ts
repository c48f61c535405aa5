// The progress of a restore between none and all: a store that gives a part of the copy and then waits.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { FS_LOCATION, openBlobStores } from '#blobs/stores.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { WorkDeps } from './job.ts'
import { PassingFault } from './plan.ts'
import { openProgress } from './progress.ts'
import { restore } from './restore.ts'
import { createSealedBlobs, type SealedBlobs } from './sealed-blobs.ts'

const MB = 1_048_576
const ACCOUNT = 'acct_a'
const WAIT_MS = 30_000
const TABLES = join('base', '16384')
const { signal } = new AbortController()

/** A copy of 2 MB, as a tar archive. */
function archiveIn(folder: string): Buffer {
  const files = join(folder, 'files')
  for (const name of ['pg_wal', TABLES]) mkdirSync(join(files, name), { recursive: true })
  writeFileSync(join(files, 'backup_label'), 'START WAL LOCATION')
  writeFileSync(join(files, TABLES, 'table'), randomBytes(2 * MB))
  execFileSync('tar', ['-cf', join(folder, 'copy.tar'), '-C', files, '.'])
  return readFileSync(join(folder, 'copy.tar'))
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function openBlobs(
  t: TestContext,
  state: State,
): Promise<{ blobs: SealedBlobs; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-progress-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const settings = { folder, target: FS_LOCATION, locations: [FS_LOCATION], s3: {} }
  const stores = await openBlobStores(settings, { log: quiet, clock: systemClock })
  return { blobs: createSealedBlobs({ state, stores, secret: 'of the data folder' }), folder }
}

/** A database with a copy, and a new one that is restored from it. Returns the ids. */
async function wantedRestore(
  state: State,
  { blobs, copy }: { readonly blobs: SealedBlobs; readonly copy: Buffer },
): Promise<{ id: string; database: string }> {
  const idBy = async (text: string, values: readonly unknown[]) =>
    (await state.query<{ id: string }>(`select ${text} as id`, values)).rows[0]?.id ?? ''
  const add = (name: string) => idBy("add_database($1, $2, 'local', 99, 1)", [ACCOUNT, name])
  const database = await add('source')
  const id = await add('restored')
  const backup = await idBy("want_backup($1, 'manual')", [database])
  const part = await blobs.put(once(copy), signal)
  const log = await blobs.put(once(Buffer.alloc(MB)), signal)
  const stored = ({ blob, size, key }: typeof part) => [
    JSON.stringify(blob),
    size,
    JSON.stringify(key),
  ]
  await state.query('select keep_part($1, 0, $2, $3, $4)', [backup, ...stored(part)])
  await state.query("select keep_wal($1, '0/100000', '0/200000', 1, $2, $3, $4)", [
    database,
    ...stored(log),
  ])
  await state.query(
    `update database_backups set status = 'done', ended_at = ledger_now(), total_bytes = $2,
       begin_lsn = '0/100000', end_lsn = '0/200000' where id = $1`,
    [backup, copy.length],
  )
  await state.query('select want_restore($1, $2, $3, null)', [id, database, backup])
  await state.query("update database_restores set status = 'running' where database = $1", [id])
  return { id, database }
}

test('openProgress() tells no more than all bytes where the files have grown', () => {
  const told: unknown[] = []
  const state = {
    query: async (_: string, values: unknown) => {
      told.push(values)
      return { rows: [], rowCount: 1 }
    },
  }
  using progress = openProgress({ state, clock: systemClock } as unknown as WorkDeps, '', {
    id: 'r',
  })
  progress.report(12, 10)
  progress.report(9, 10)
  assert.deepEqual(told, [
    ['r', 10, 10],
    ['r', 9, 10],
  ])
})

test(
  'a restore tells its bytes between none and all while its store is slow',
  { skip: whyNoState() },
  async (t) => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const { blobs, folder } = await openBlobs(t, state)
    const copy = archiveIn(folder)
    const job = await wantedRestore(state, { blobs, copy })
    const goOn = Promise.withResolvers<void>()
    const slow: Pick<SealedBlobs, 'get'> = {
      async *get(sealed, until) {
        for await (const bytes of blobs.get(sealed, until)) {
          yield bytes
          await goOn.promise
        }
      },
    }
    const deps = {
      state,
      clock: systemClock,
      blobs: slow,
      restoredFolder: folder,
      roomLock: import.meta.filename,
    }
    const working = restore(deps as unknown as WorkDeps, { ...job, kind: 'restore' }, signal)
    const rowOf = async () => {
      const { rows } = await state.query<{ status: string; done: number; total: number }>(
        `select status, done_bytes::float8 as done, total_bytes::float8 as total
         from database_restores where database = $1`,
        [job.id],
      )
      return rows[0] ?? { status: '', done: 0, total: 0 }
    }
    try {
      const lastMs = performance.now() + WAIT_MS
      while ((await rowOf()).done === 0 && performance.now() < lastMs) await pause(50)
      const { status, done, total } = await rowOf()
      assert.deepEqual([status, total], ['running', copy.length])
      assert.ok(done > 0 && done < total, `${done} of ${total}`)
    } finally {
      goOn.resolve()
      await working
    }
    assert.equal((await rowOf()).status, 'unpacked')
    assert.ok(existsSync(join(folder, job.id, 'data', TABLES, 'table')))
  },
)

test(
  'the files of a restore are charged from their last byte on, before a server runs on them',
  { skip: whyNoState() },
  async (t) => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const { blobs, folder } = await openBlobs(t, state)
    const job = await wantedRestore(state, { blobs, copy: archiveIn(folder) })
    const deps = {
      state,
      clock: systemClock,
      blobs,
      restoredFolder: folder,
      roomLock: import.meta.filename,
    }
    await restore(deps as unknown as WorkDeps, { ...job, kind: 'restore' }, signal)
    const { rows } = await state.query<{ bytes: number; wal: number }>(
      'select stored_bytes::float8 as bytes, wal_bytes::float8 as wal from databases where id = $1',
      [job.id],
    )
    const { bytes = 0, wal } = rows[0] ?? {}
    // The table, and less than a kilobyte beside it.
    assert.ok(bytes > 2 * MB && bytes < 2 * MB + 1024, String(bytes))
    assert.equal(wal, MB)
  },
)

test(
  'a restore whose database is deleted while the last bytes are unpacked leaves no files',
  { skip: whyNoState() },
  async (t) => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const { blobs, folder } = await openBlobs(t, state)
    const job = await wantedRestore(state, { blobs, copy: archiveIn(folder) })
    let wereFiles = false
    const deleting: Pick<State, 'query'> = {
      async query(text, values) {
        if (!text.includes("'unpacked'")) return await state.query(text, values)
        wereFiles = existsSync(join(folder, job.id, 'data', TABLES, 'table'))
        await state.query("update database_restores set status = 'failed' where database = $1", [
          job.id,
        ])
        return await state.query(text, values)
      },
    }
    const deps = {
      state: deleting,
      clock: systemClock,
      blobs,
      restoredFolder: folder,
      roomLock: import.meta.filename,
    }
    await restore(deps as unknown as WorkDeps, { ...job, kind: 'restore' }, signal)
    assert.deepEqual([wereFiles, existsSync(join(folder, job.id))], [true, false])
  },
)

test(
  'a restore whose store gives nothing for half an hour ends by itself, and may be tried again',
  { skip: whyNoState() },
  async (t) => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const { blobs, folder } = await openBlobs(t, state)
    const job = await wantedRestore(state, { blobs, copy: archiveIn(folder) })
    let nowMs = 0
    const silent: Pick<SealedBlobs, 'get'> = {
      async *get(sealed, until) {
        for await (const bytes of blobs.get(sealed, until)) {
          yield bytes
          nowMs += 1_800_001
          await new Promise((_, reject) =>
            until.addEventListener('abort', () => reject(until.reason as Error)),
          )
        }
      },
    }
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    const deps = {
      state,
      clock,
      blobs: silent,
      restoredFolder: folder,
      roomLock: import.meta.filename,
    }
    const restoring = restore(deps as unknown as WorkDeps, { ...job, kind: 'restore' }, signal)
    await assert.rejects(restoring, PassingFault)
    assert.ok(!existsSync(join(folder, `${job.id}~`)))
  },
)
