// The copy and the log that a restore needs, on a state without servers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { BackupFault, planRestore } from './plan.ts'

const skip = whyNoState()
const MB = 1_048_576
const at = (minute: number) => new Date(Date.parse('2026-03-01T00:00:00Z') + minute * 60_000)

let url: TestUrl
let state: State
before(async () => {
  if (skip !== false) return
  url = await openTestUrl()
  state = await openLedgerState(url.of, 1)
  await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await url?.[Symbol.asyncDispose]()
})

const newBlob = () =>
  JSON.stringify({ id: crypto.randomUUID(), location: 'fs', size: 100, checksum: 'x' })

async function newDatabase(name: string): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    "select add_database('acct_a', $1, 'local', 99, 1) as id",
    [name],
  )
  return rows[0]?.id ?? ''
}

/** A copy of two pieces, with its place in the log in MB, and the minutes of its begin and its end. */
async function copy(
  database: string,
  [begin, end]: readonly [number, number],
  [started, ended]: readonly [number, number],
): Promise<string> {
  const { rows } = await state.query<{ id: string }>("select want_backup($1, 'manual') as id", [
    database,
  ])
  const id = rows[0]?.id ?? ''
  for (const number of [1, 0])
    await state.query("select keep_part($1, $2, $3, $4, '{}')", [
      id,
      number,
      newBlob(),
      10 + number,
    ])
  await state.query(
    `update database_backups set status = 'done', started_at = $4, ended_at = $5, total_bytes = 7,
       begin_lsn = '0/0'::pg_lsn + $2::bigint, end_lsn = '0/0'::pg_lsn + $3::bigint where id = $1`,
    [id, begin * MB, end * MB, at(started), at(ended)],
  )
  return id
}

const log = (database: string, begin: number, end: number) =>
  state.query(
    "select keep_wal($1, '0/0'::pg_lsn + $2::bigint, '0/0'::pg_lsn + $3::bigint, 1, $4, 1, '{}')",
    [database, begin * MB, end * MB, newBlob()],
  )

/** Sizes of the files, and the first and the last MB of the log. */
async function planned(source: string, moment: { backup?: string; until?: Date } = {}) {
  const plan = await planRestore(state, { source, backup: null, until: null, ...moment })
  return {
    files: plan.files.map(({ size }) => size),
    log: plan.log.map(({ begin, end }) => [Number(begin) / MB, Number(end) / MB]),
    consistent: Number(plan.consistent) / MB,
  }
}

test(
  'a restore takes the newest copy from before its time, and the log since',
  { skip },
  async () => {
    const id = await newDatabase('times')
    const first = await copy(id, [1.5, 2], [0, 1])
    await copy(id, [11, 12], [60, 61])
    for (let mb = 0; mb < 20; mb += 2) await log(id, mb, mb + 2)
    const files = [10, 11]
    const since = (from: number, to: number) =>
      Array.from({ length: (to - from) / 2 }, (_, nth) => [from + 2 * nth, from + 2 * nth + 2])
    assert.deepEqual(await planned(id), { files, log: since(10, 20), consistent: 12 })
    assert.deepEqual(await planned(id, { until: at(70) }), {
      files,
      log: since(10, 20),
      consistent: 12,
    })
    // A commit before the time is in the log from before the next copy.
    assert.deepEqual(await planned(id, { until: at(30) }), {
      files,
      log: since(0, 12),
      consistent: 2,
    })
    assert.deepEqual(await planned(id, { until: at(60.5) }), {
      files,
      log: since(0, 20),
      consistent: 2,
    })
    assert.deepEqual(await planned(id, { backup: first }), {
      files,
      log: since(0, 2),
      consistent: 2,
    })
    await assert.rejects(
      planned(id, { until: at(0.5) }),
      /no backup from before 2026-03-01T00:00:30/,
    )
    await assert.rejects(planned(id, { backup: 'bkp_none' }), BackupFault)
    await assert.rejects(planned(await newDatabase('new')), /there is no backup yet/)
  },
)

test(
  'a log with a gap, one that begins late and one that ends early are refused',
  { skip },
  async () => {
    const id = await newDatabase('gaps')
    await copy(id, [1, 4], [0, 1])
    await assert.rejects(planned(id), /a gap after 0\/100000$/)
    await log(id, 2, 5)
    await assert.rejects(planned(id), /a gap after 0\/100000$/)
    await log(id, 0, 2)
    assert.deepEqual((await planned(id)).log, [
      [0, 2],
      [2, 5],
    ])
    await log(id, 6, 7)
    await assert.rejects(planned(id), /a gap after 0\/500000$/)
    const late = await newDatabase('late')
    // A server reads the segment from its beginning.
    await copy(late, [1.5, 4], [0, 1])
    await log(late, 1.25, 5)
    await assert.rejects(planned(late), /a gap after 0\/100000$/)
    const short = await newDatabase('short')
    await copy(short, [1, 4], [0, 1])
    await log(short, 1, 3)
    await assert.rejects(planned(short), /a gap after 0\/300000$/)
  },
)

test(
  'a time before a lost part of the log is restored without that part, and times in it are refused in words',
  { skip },
  async () => {
    const id = await newDatabase('lost')
    const storedTo = (minute: number) =>
      state.query('update databases set log_stored_at = $2 where id = $1', [id, at(minute)])
    const lose = (from: number, to: number) =>
      state.query(
        "select note_log_gap($1, '0/0'::pg_lsn + $2::bigint, '0/0'::pg_lsn + $3::bigint)",
        [id, from * MB, to * MB],
      )
    const before = await copy(id, [1, 2], [0, 1])
    await log(id, 0, 4)
    await storedTo(30)
    await lose(4, 6)
    await log(id, 6, 8)
    const files = [10, 11]
    const early = { files, log: [[0, 4]], consistent: 2 }
    assert.deepEqual(await planned(id, { until: at(30) }), early)
    assert.deepEqual(await planned(id, { backup: before }), early)
    const words = /its log from 2026-03-01T00:30:00.000Z on was lost, and no copy/
    await assert.rejects(planned(id, { until: at(31) }), words)
    await assert.rejects(planned(id), words)
    await copy(id, [7, 7.5], [60, 61])
    await log(id, 8, 10)
    const late = {
      files,
      log: [
        [6, 8],
        [8, 10],
      ],
      consistent: 7.5,
    }
    assert.deepEqual(await planned(id), late)
    assert.deepEqual(await planned(id, { until: at(62) }), late)
    assert.deepEqual(await planned(id, { until: at(29) }), early)
    await assert.rejects(planned(id, { until: at(60.5) }), words)
    // Another loss, before the next copy.
    await storedTo(90)
    await lose(10, 12)
    await log(id, 12, 14)
    assert.deepEqual(await planned(id, { until: at(90) }), late)
    await assert.rejects(planned(id), /its log from 2026-03-01T01:30:00.000Z on was lost/)
  },
)
