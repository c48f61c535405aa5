// Restores that are accepted in the instant in which their backup is removed: each is refused, or keeps its backup. On a
// state without servers, with several sessions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { createBackupDelete } from '#databases/operations/database-backup-delete.ts'
import { createDatabase } from '#databases/operations/database-create.ts'
import { addTestAccount, addTestMember, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { Queryable, State } from '#state/connect.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const KEPT_MS = 7 * 86_400_000
const SETTINGS = {
  isOn: true,
  passwordKey: '00'.repeat(32),
  region: 'local',
  host: 'localhost',
  socketFolder: '/nowhere',
  port: 5432,
  backupsKeptMs: KEPT_MS,
}
const CALL = {
  caller: { account: ACCOUNT, token: `tok_${ACCOUNT}` },
  spend: { requestId: 'req_1' },
} as never
const LOOK_MS = 10

let url: TestUrl
let state: State
before(async () => {
  if (skip !== false) return
  url = await openTestUrl()
  state = await openLedgerState(url.of, 4)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  await addTestMember(state, ACCOUNT)
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await url?.[Symbol.asyncDispose]()
})

/** A database with copies that ended so many days ago. */
async function databaseWith(name: string, ...days: number[]): Promise<string[]> {
  const { rows } = await state.query<{ id: string }>(
    "select add_database($1, $2, 'local', 99, 1000000) as id",
    [ACCOUNT, name],
  )
  const database = rows[0]?.id ?? assert.fail()
  const made = days.map((_, nth) => `bkp_${name}_${nth}`)
  for (const [nth, day] of days.entries())
    await state.query(
      `insert into database_backups (id, database, kind, status, created_at, ended_at, begin_lsn, end_lsn)
       values ($1, $2, $3, 'done', ledger_now() - make_interval(days => $4), ledger_now() - make_interval(days => $4),
         '0/0'::pg_lsn + $5::bigint, '0/0'::pg_lsn + $5::bigint)`,
      [made[nth], database, name.includes('hand') ? 'manual' : 'nightly', day, nth * 1_048_576],
    )
  return [database, ...made]
}

/** Accepts a restore of a backup. */
const accept = (transaction: Queryable, database: string, backup: string) =>
  createDatabase(transaction, CALL, {
    request: { name: `of-${database.slice(-12)}`, region: 'auto', from: { database, backup } },
    settings: SETTINGS,
  })

const remove = async (database: string, backup: string) =>
  createBackupDelete({ state, settings: SETTINGS })({
    ...(CALL as object),
    parameters: { database, backup },
  } as never)

const expire = (own: Queryable) => own.query('select expire_backups($1)', [KEPT_MS])

const isThere = async (backup: string) =>
  (await state.query('select from database_backups where id = $1', [backup])).rowCount > 0

/** Resolves when the work waits for a lock, or has ended. */
async function waitingOrDone(work: Promise<unknown>): Promise<void> {
  let isDone = false
  void work.catch(() => undefined).then(() => (isDone = true))
  const text =
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  while (!isDone && (await state.query(text)).rowCount === 0) await sleep(LOOK_MS)
}

/** Begins `second` while the transaction of `first` is open; resolves with the end of `second`. */
async function during<T>(
  first: (transaction: Queryable) => Promise<unknown>,
  second: () => Promise<T>,
): Promise<{ readonly error?: unknown }> {
  let begun: Promise<T> | undefined
  await state.transaction(async (transaction) => {
    await first(transaction)
    begun = second()
    await waitingOrDone(begun)
  })
  return await (begun ?? assert.fail()).then(
    () => ({}),
    (error: unknown) => ({ error }),
  )
}

test(
  'a backup that ends with the retention stays while its restore is accepted',
  { skip },
  async () => {
    const [id = '', old = ''] = await databaseWith('expiring', 20, 10, 1)
    await during(
      (transaction) => accept(transaction, id, old),
      () => expire(state),
    )
    assert.ok(await isThere(old))
    await state.query("update database_restores set status = 'unpacked' where source = $1", [id])
    await expire(state)
    assert.ok(!(await isThere(old)))
  },
)

test('a backup that its owner deletes stays while its restore is accepted', { skip }, async () => {
  const [id = '', , byHand = ''] = await databaseWith('by-hand', 5, 4, 3)
  const { error } = await during(
    (transaction) => accept(transaction, id, byHand),
    () => remove(id, byHand),
  )
  assert.match(String(error), /a restore or clone of its database is under way/)
  assert.ok(await isThere(byHand))
})

test('a restore of a backup that is just being removed is refused', { skip }, async () => {
  const [id = '', old = ''] = await databaseWith('expired', 20, 10, 1)
  const { error } = await during(expire, () => state.transaction((own) => accept(own, id, old)))
  assert.match(String(error), /Could not find the backup/)
})
