// The rows of backups for tests: databases, copies and pieces of a log at a time, on a state without servers.
import { after, before } from 'node:test'
import { present } from '#base/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { Queryable, SqlRow, State } from '#state/connect.ts'

const ACCOUNT = 'acct_a'
export const DAY_MS = 86_400_000
const KEPT_MS = 7 * DAY_MS
export const FIRST_MS = Date.parse('2026-03-01T00:00:00Z')
const MB = 1_048_576
export const BLOB_BYTES = 100

/** Opens a state for the tests of a file, and closes it behind them. */
function testState(): Queryable {
  let url: TestUrl | undefined
  let opened: State | undefined
  before(async () => {
    if (whyNoState() !== false) return
    url = await openTestUrl()
    // One session, which has the clock.
    opened = await openLedgerState(url.of, 1)
    await addTestAccount(opened, { id: ACCOUNT, env: 'test', lowWater: 0n })
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    await url?.[Symbol.asyncDispose]()
  })

  return {
    query: <R extends SqlRow>(text: string, values?: readonly unknown[]) =>
      present(opened, 'the state is open in tests').query<R>(text, values),
  }
}

type Value = (text: string, values?: readonly unknown[]) => Promise<unknown>

export function backupRows() {
  const state = testState()
  const value: Value = async (text, values) =>
    (await state.query<{ value: unknown }>(`select ${text} as value`, values)).rows[0]?.value
  return { state, value, ...foundRows(value), ...madeRows(state, value) }
}

function foundRows(value: Value) {
  const copies = async (database: string) =>
    (await value('array(select id from database_backups where database = $1 order by created_at)', [
      database,
    ])) as string[]

  /** The first MB of each piece of the log. */
  const logs = (database: string) =>
    value(
      `array(select ((begin_lsn - '0/0') / ${MB})::int from database_wal where database = $1 order by begin_lsn)`,
      [database],
    )

  const bytes = async (database: string) =>
    Number(await value('(select backup_bytes from databases where id = $1)', [database]))

  const garbage = async () => Number(await value('(select count(*) from blob_garbage)'))
  const expire = () => value('expire_backups($1)', [KEPT_MS])

  return { copies, logs, bytes, garbage, expire }
}

function madeRows(state: Queryable, value: Value) {
  const at = (day: number) =>
    value("set_config('ergon.now', $1, false)", [new Date(FIRST_MS + day * DAY_MS).toISOString()])

  const newBlob = () =>
    JSON.stringify({ id: crypto.randomUUID(), location: 'fs', size: BLOB_BYTES, checksum: 'x' })

  /** A database on the first day. */
  async function newDatabase(name: string): Promise<string> {
    await at(0)
    const id = String(await value("add_database($1, $2, 'local', 99, 1000000)", [ACCOUNT, name]))
    for (const reached of ['deploying', 'deployed'])
      await value('move_resource($1, $2)', [id, reached])
    return id
  }

  /** A copy of the files, from one MB of the log to another. */
  async function copy(
    database: string,
    [begin, end]: readonly [number, number],
    kind: 'nightly' | 'manual' = 'nightly',
  ): Promise<string> {
    const id = String(await value('want_backup($1, $2)', [database, kind]))
    await value('keep_part($1, 0, $2, 1, $3)', [id, newBlob(), '{}'])
    await state.query(
      `update database_backups set status = 'done', ended_at = ledger_now(),
         begin_lsn = '0/0'::pg_lsn + $2::bigint, end_lsn = '0/0'::pg_lsn + $3::bigint where id = $1`,
      [id, begin * MB, end * MB],
    )
    return id
  }

  /** A piece of the log. */
  const log = (database: string, begin: number, end: number) =>
    value("keep_wal($1, '0/0'::pg_lsn + $2::bigint, '0/0'::pg_lsn + $3::bigint, 1, $4, 1, $5)", [
      database,
      Math.round(begin * MB),
      Math.round(end * MB),
      newBlob(),
      '{}',
    ])

  /** A copy each day, at a tenth of the day's 10 MB of log. */
  async function days(database: string, count: number): Promise<string[]> {
    const made: string[] = []
    for (let day = 0; day < count; day++) {
      await at(day)
      made.push(await copy(database, [day * 10 + 1, day * 10 + 2]))
      await log(database, day * 10, day * 10 + 10)
    }
    return made
  }

  return { at, newDatabase, newBlob, copy, log, days }
}
