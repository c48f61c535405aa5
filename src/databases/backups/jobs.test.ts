// The queue of backups and restores: turns of accounts, and the end of jobs that fail. On a state without servers.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fault } from '#contract/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { DueJob } from './job.ts'
import { JobFault } from './job-failure.ts'
import { followJobs } from './jobs.ts'

const skip = whyNoState()
const WAIT_MS = 30_000
const AT_ONCE = 2

/** The next query with such words fails, or its answer is lost. */
type Outage = { readonly of: string; readonly isAnswerLost: boolean }

/** A state whose jobs the test ends. */
async function open(t: TestContext) {
  const url = await openTestUrl()
  const state = await openLedgerState(url.of, 3)
  const folder = mkdtempSync(join(tmpdir(), 'ergon-jobs-'))
  const began: DueJob[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const stopping = new AbortController()
  const until = async (what: string, holds: () => boolean | Promise<boolean>) => {
    const lastMs = performance.now() + WAIT_MS
    while (!(await holds())) {
      assert.ok(performance.now() < lastMs, what)
      await pause(10)
    }
  }
  const run = async (job: DueJob) => {
    const end = Promise.withResolvers<void>()
    ends.set(job.id, end)
    began.push(job)
    await end.promise
    await state.query("update database_backups set status = 'done' where id = $1", [job.id])
  }
  const outages: Outage[] = []
  const query: State['query'] = async (text, values) => {
    const at = outages.findIndex(({ of }) => text.includes(of))
    const [outage] = at < 0 ? [] : outages.splice(at, 1)
    if (outage === undefined) return await state.query(text, values)
    if (outage.isAnswerLost) await state.query(text, values)
    throw new Error('the state is away')
  }
  const working = followJobs(
    { state: { ...state, query }, log: quiet, cells: { run }, restoredFolder: folder },
    stopping.signal,
  )
  t.after(async () => {
    stopping.abort()
    for (const end of ends.values()) end.resolve()
    await working
    await state[Symbol.asyncDispose]()
    await url[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  const idBy = async (text: string, values: readonly unknown[]) =>
    (await state.query<{ id: string }>(`select ${text} as id`, values)).rows[0]?.id ?? ''
  return {
    state,
    folder,
    began,
    outages,
    until,
    end: (id: string, error?: unknown) =>
      error === undefined ? ends.get(id)?.resolve() : ends.get(id)?.reject(error),
    async account(name: string) {
      await addTestAccount(state, { id: name, env: 'test', lowWater: 0n })
    },
    database: (account: string, name: string) =>
      idBy("add_database($1, $2, 'local', 99, 1)", [account, name]),
    /** The next failure is the last one. */
    async lastTry() {
      await state.query('update database_backups set tries = 4')
      await state.query('update database_restores set tries = 4')
    },
    backup: (database: string) => idBy("want_backup($1, 'manual')", [database]),
  }
}

test(
  'accounts take turns: neither a long queue nor a slow job of one keeps the others waiting',
  { skip },
  async (t) => {
    const bench = await open(t)
    const { began, until, backup, database, end } = bench
    for (const name of ['acct_many', 'acct_b', 'acct_c']) await bench.account(name)
    const many: string[] = []
    for (let nth = 0; nth < 4; nth++)
      many.push(await backup(await database('acct_many', `many-${nth}`)))
    await until('one of the account goes on', () => began.length === 1)
    const b = await backup(await database('acct_b', 'b'))
    await until('that of another one too', () => began.length === AT_ONCE)
    const c = await backup(await database('acct_c', 'c'))
    // The first one never ends, and the account has three more in its queue.
    end(b)
    await until('the third account has its turn', () => began.length === 3)
    const again = await backup(await database('acct_b', 'b-2'))
    end(many[0] ?? '')
    await until('the next', () => began.length === 4)
    end(c)
    await until('the one after it', () => began.length === 5)
    assert.deepEqual(
      began.map(({ id }) => id),
      [many[0], b, c, many[1], again],
    )
  },
)

test(
  'a backup that cannot be paid any more fails in words, and its parts are given up',
  { skip },
  async (t) => {
    const { state, account, database, backup, began, until, end } = await open(t)
    await account('acct_a')
    const id = await backup(await database('acct_a', 'notes'))
    await until('it goes on', () => began.length === 1)
    const blob = { id: crypto.randomUUID(), location: 'fs', size: 100, checksum: 'x' }
    await state.query('select keep_part($1, 0, $2, 1, $3)', [id, JSON.stringify(blob), '{}'])
    end(id, fault('balance_depleted', 'Could not go on: empty'))
    const rowOf = async () =>
      (
        await state.query<{ status: string; reason: string; is_unpaid: boolean; parts: number }>(
          `select status, reason, is_unpaid, (select count(*)::int from database_parts where backup = id) as parts
         from database_backups where id = $1`,
          [id],
        )
      ).rows[0]
    await until('it has failed', async () => (await rowOf())?.status === 'failed')
    assert.deepEqual(await rowOf(), {
      status: 'failed',
      reason:
        'the account of this database cannot pay for its energy. An owner or admin of the account adds funds, or its free energy is renewed at 00:00 UTC.',
      is_unpaid: true,
      parts: 0,
    })
  },
)

test(
  'a restore that fails leaves no files, also where its process was killed',
  { skip },
  async (t) => {
    const bench = await open(t)
    const { state, account, database, began, until, end, folder } = bench
    await account('acct_a')
    const source = await database('acct_a', 'source')
    const id = await database('acct_a', 'restored')
    await state.query('select want_restore($1, $2, null, null)', [id, source])
    await until('it goes on', () => began.length === 1)
    const folders = [id, `${id}~`].map((name) => join(folder, name))
    for (const one of folders) mkdirSync(join(one, 'data'), { recursive: true })
    await bench.lastTry()
    end(id, new Error('the path /of/the/node'))
    await until('it has failed', async () => {
      const { rows } = await state.query<{ status: string; reason: string }>(
        'select status, reason from database_restores where database = $1',
        [id],
      )
      if (rows[0]?.status !== 'failed') return false
      assert.equal(rows[0].reason, 'the service could not do it now; it was tried 5 times')
      return true
    })
    assert.deepEqual(folders.filter(existsSync), [])
  },
)

test(
  'a backup or restore that fails behind its success keeps its pieces and its files',
  { skip },
  async (t) => {
    const { state, account, database, backup, began, until, end, folder } = await open(t)
    await account('acct_a')
    const source = await database('acct_a', 'source')
    const done = await backup(source)
    const restored = await database('acct_a', 'restored')
    await state.query('select want_restore($1, $2, null, null)', [restored, source])
    await until('both go on', () => began.length === AT_ONCE)
    const blob = { id: crypto.randomUUID(), location: 'fs', size: 100, checksum: 'x' }
    await state.query('select keep_part($1, 0, $2, 1, $3)', [done, JSON.stringify(blob), '{}'])
    await state.query("update database_backups set status = 'done' where id = $1", [done])
    await state.query("update database_restores set status = 'unpacked' where database = $1", [
      restored,
    ])
    mkdirSync(join(folder, restored, 'data'), { recursive: true })
    for (const id of [done, restored]) end(id, new Error('the answer is lost'))
    // The next job of the account begins behind the end of the one before.
    const next = await backup(source)
    await until('the next one goes on', () => began.some(({ id }) => id === next))
    const { rows } = await state.query<{ parts: number }>(
      'select count(*)::int as parts from database_parts where backup = $1',
      [done],
    )
    assert.equal(rows[0]?.parts, 1)
    assert.ok(existsSync(join(folder, restored, 'data')))
  },
)

test(
  'a backup or restore whose end could not be recorded begins anew, and fails',
  { skip },
  async (t) => {
    const bench = await open(t)
    const { state, account, database, backup, began, outages, until, end } = bench
    await account('acct_a')
    const source = await database('acct_a', 'source')
    const failing = await backup(source)
    const restored = await database('acct_a', 'restored')
    await state.query('select want_restore($1, $2, null, null)', [restored, source])
    await until('both go on', () => began.length === AT_ONCE)
    await bench.lastTry()
    outages.push({ of: 'drop_parts', isAnswerLost: false })
    outages.push({ of: "database_restores set status = 'failed'", isAnswerLost: false })
    for (const id of [failing, restored]) end(id, new Error('the state is away'))
    await until('both begin anew', () => began.length === 2 * AT_ONCE)
    for (const id of [failing, restored]) end(id, new Error('the state is back'))
    await until('both have failed', async () => {
      const { rows } = await state.query<{ status: string }>(
        `select status from database_backups where id = $1
         union all select status from database_restores where database = $2`,
        [failing, restored],
      )
      return rows.every(({ status }) => status === 'failed')
    })
  },
)

test(
  'a backup whose begin was recorded while the answer was lost is made by the same agent',
  { skip },
  async (t) => {
    const { account, database, backup, began, outages, until } = await open(t)
    await account('acct_a')
    outages.push({ of: 'update database_backups b', isAnswerLost: true })
    const id = await backup(await database('acct_a', 'notes'))
    await until('the backup goes on', () => began.some((job) => job.id === id))
  },
)

test(
  'a backup and a restore that fail through a fault of the service are tried again, and say so meanwhile',
  { skip },
  async (t) => {
    const { state, account, database, backup, began, until, end, folder } = await open(t)
    await account('acct_a')
    const source = await database('acct_a', 'source')
    const failing = await backup(source)
    const restored = await database('acct_a', 'restored')
    await state.query('select want_restore($1, $2, null, null)', [restored, source])
    const rowsOf = async () =>
      (
        await state.query<{ status: string; reason: string | null; s: number | null }>(
          `select status, reason, round(extract(epoch from due_at - ledger_now()))::int as s
           from database_backups where id = $1
           union all select status, reason, round(extract(epoch from due_at - ledger_now()))::int
           from database_restores where database = $2`,
          [failing, restored],
        )
      ).rows
    const due = async () => {
      await state.query('update database_backups set due_at = ledger_now()')
      await state.query('update database_restores set due_at = ledger_now()')
      await state.query("select pg_notify('ergon_backups', '')")
    }
    for (let nth = 1; nth <= 5; nth++) {
      await until(`both begin, ${nth}`, () => began.length === nth * AT_ONCE)
      for (const one of await rowsOf())
        assert.deepEqual([one.status, one.reason], ['running', null])
      mkdirSync(join(folder, restored), { recursive: true })
      end(failing, new JobFault({ reason: 'the store is away', isUnpaid: false, mayPass: true }))
      end(restored, new Error('the path /of/the/node'))
      await until(`both have ended, ${nth}`, async () =>
        (await rowsOf()).every(({ status }) => status !== 'running'),
      )
      const rows = await rowsOf()
      assert.ok(!existsSync(join(folder, restored)))
      const words = nth < 5 ? 'it is tried again by itself' : 'it was tried 5 times'
      const status = nth < 5 ? 'wanted' : 'failed'
      assert.deepEqual(
        rows.map((row) => [row.status, row.reason]),
        ['the store is away', 'the service could not do it now'].map((why) => [
          status,
          `${why}; ${words}`,
        ]),
      )
      if (nth === 5) return
      const pauseS = 15 * 2 ** (nth - 1)
      for (const { s } of rows) assert.ok(s !== null && s > pauseS - 15 && s <= pauseS, `${s} s`)
      await due()
    }
  },
)

test(
  'a nightly backup that its suspended database ended is made at the resume, and one by hand fails',
  { skip },
  async (t) => {
    const { state, began, until, database, end, account } = await open(t)
    await account('acct_a')
    const id = await database('acct_a', 'notes')
    const move = async (...states: readonly string[]) => {
      for (const reached of states) await state.query('select move_resource($1, $2)', [id, reached])
    }
    const want = (wanted: string) => state.query('select want_resource($1, $2)', [id, wanted])
    const wantBackup = async (kind: string) => {
      const text = 'select want_backup($1, $2) as id'
      return (await state.query<{ id: string }>(text, [id, kind])).rows[0]?.id ?? ''
    }
    const rowOf = async (backup: string) => {
      const text = 'select status, reason, tries from database_backups where id = $1'
      return (await state.query<{ status: string }>(text, [backup])).rows[0]
    }
    const suspended = () =>
      new JobFault({ reason: 'the database is suspended', isUnpaid: false, mayPass: false })
    await move('deploying', 'deployed')
    const nightly = await wantBackup('nightly')
    await until('it begins', () => began.length === 1)
    await want('suspended')
    end(nightly, suspended())
    await until('it waits', async () => (await rowOf(nightly))?.status === 'wanted')
    const reason = 'the database is suspended; it is made at the resume'
    assert.deepEqual(await rowOf(nightly), { status: 'wanted', reason, tries: 0 })
    await move('suspended')
    const manual = await wantBackup('manual')
    await until('one by hand goes first', () => began.length === 2)
    assert.equal(began[1]?.id, manual)
    end(manual, suspended())
    await until('one by hand fails', async () => (await rowOf(manual))?.status === 'failed')
    await want('deployed')
    await move('deployed')
    await state.query("select pg_notify('ergon_backups', '')")
    await until('it begins anew', () => began.length === 3)
    assert.equal(began[2]?.id, nightly)
    // Suspended and resumed at once, before the end of the copy is recorded.
    await want('suspended')
    await move('suspended')
    await state.query(
      `insert into resource_intervals (resource, from_at, to_at, woken_by, slept_by)
       values ($1, ledger_now(), ledger_now(), 'backup', 'suspended')`,
      [id],
    )
    await want('deployed')
    await move('deployed')
    end(nightly, suspended())
    await until('it begins once more', () => began.length === 4)
    assert.equal(began[3]?.id, nightly)
  },
)

test(
  'a backup ends with its database: one that goes on is not tried again, one that waits never begins',
  { skip },
  async (t) => {
    const { state, began, until, database, backup, end, account } = await open(t)
    await account('acct_a')
    const gone = await database('acct_a', 'gone')
    const running = await backup(gone)
    await until('it begins', () => began.length === 1)
    const waiting = await backup(gone)
    await state.query('select delete_database($1)', [gone])
    const reason = 'the database system is starting up'
    end(running, new JobFault({ reason, isUnpaid: false, mayPass: true }))
    const other = await backup(await database('acct_a', 'other'))
    await until('the next one of the account begins', () => began.length === 2)
    assert.equal(began[1]?.id, other)
    const { rows } = await state.query(
      'select id, status, reason from database_backups where database = $1 order by id',
      [gone],
    )
    const ended = { status: 'failed', reason: 'the database was deleted' }
    assert.deepEqual(
      rows,
      [running, waiting].map((id) => ({ id, ...ended })),
    )
    const late = await state.query("select want_backup($1, 'nightly') as id", [gone])
    assert.deepEqual(late.rows, [{ id: null }])
  },
)

test(
  'a restore whose database was deleted meanwhile keeps that reason, also where its job fails',
  { skip },
  async (t) => {
    const { state, began, until, database, end, account } = await open(t)
    await account('acct_a')
    const source = await database('acct_a', 'source')
    const restored = await database('acct_a', 'restored')
    await state.query('select want_restore($1, $2, null, null)', [restored, source])
    await until('it begins', () => began.length === 1)
    await state.query('select delete_database($1)', [restored])
    end(restored, new Error('the store is away'))
    const again = await database('acct_a', 'again')
    await state.query('select want_restore($1, $2, null, null)', [again, source])
    // The next restore of the account begins once that one has ended.
    await until('it has ended', () => began.some(({ id }) => id === again))
    const { rows } = await state.query(
      'select status, reason from database_restores where database = $1',
      [restored],
    )
    assert.deepEqual(rows, [{ status: 'failed', reason: 'it was deleted' }])
  },
)
