// Suspensions, resumes and deletions that are asked for twice. On a state without servers, with the moves of a reconciler.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addTestAccount, addTestMember, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { DatabaseChange } from '#contract/databases/databases.ts'
import type { Handler } from '#http/reply.ts'
import { createDatabaseDelete } from './database-delete.ts'
import { createDatabaseUpdate } from './database-update.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const SETTINGS = {
  isOn: true,
  passwordKey: '00'.repeat(32),
  region: 'local',
  host: 'localhost',
  socketFolder: '/nowhere',
  port: 5432,
  backupsKeptMs: 7 * 86_400_000,
}

let url: TestUrl
let state: State
before(async () => {
  if (skip !== false) return
  url = await openTestUrl()
  state = await openLedgerState(url.of, 2)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  await addTestMember(state, ACCOUNT)
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await url?.[Symbol.asyncDispose]()
})

type Shown = {
  readonly status: string
  readonly reason: string | null
  readonly restorable_until: string | null
}

/** The answer to a call about a database. */
async function answerOf<Body>(handle: Handler<Body>, database: string, body: Body) {
  const reply = await handle({
    caller: { account: ACCOUNT, token: `tok_${ACCOUNT}` },
    spend: { requestId: 'req_1' },
    parameters: { database },
    body,
  } as never)
  assert.ok(reply.kind === 'known')
  return reply.body({} as never) as Shown
}

const update = (database: string, body: DatabaseChange) =>
  answerOf(createDatabaseUpdate({ state, settings: SETTINGS }), database, body)

const change = (database: string, suspended: boolean) => update(database, { suspended })

const remove = (database: string) =>
  answerOf(createDatabaseDelete({ state, settings: SETTINGS }), database, undefined)

/** The reconciler has reached a state, or has failed to. */
const reach = (id: string, reached: string, why: string | null = null) =>
  state.query(
    'select move_resource(id, $2, $3, case when $3::text is null then revision end) from resources where id = $1',
    [id, reached, why],
  )

async function newDatabase(name: string): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    "select add_database($1, $2, 'local', 99, 1000000) as id",
    [ACCOUNT, name],
  )
  const id = rows[0]?.id ?? assert.fail()
  await state.query(
    "insert into database_roles (name, database, label, revision, verifier) values ('u' || $1, $1, 'owner', 1, '')",
    [id],
  )
  for (const reached of ['deploying', 'deployed']) await reach(id, reached)
  return id
}

const isUnsettled = async (id: string) =>
  (await state.query('select from resources where id = $1 and reached_revision < revision', [id]))
    .rowCount > 0

test('a second suspension or resume is no change under way', { skip }, async () => {
  const id = await newDatabase('twice')
  for (const [suspended, status] of [
    [true, 'suspended'],
    [false, 'deployed'],
  ] as const) {
    await change(id, suspended)
    await reach(id, status)
    const { status: shown, reason } = await change(id, suspended)
    assert.deepEqual([shown, reason], [status, null])
    assert.ok(!(await isUnsettled(id)))
  }
})

test('a suspension that is asked for while it goes on ends with it', { skip }, async () => {
  const id = await newDatabase('going-on')
  await change(id, true)
  const { status, reason } = await change(id, true)
  assert.deepEqual([status, reason], ['deployed', 'a change is under way'])
  await reach(id, 'suspended')
  assert.ok(!(await isUnsettled(id)))
})

test(
  'a resume of a server that does not start, and a suspension that failed, are tried at once',
  { skip },
  async () => {
    const id = await newDatabase('failing')
    await reach(id, 'crash_loop')
    await change(id, false)
    assert.ok(await isUnsettled(id))
    await change(id, true)
    await reach(id, 'failed', 'a reason')
    const { reason } = await change(id, true)
    assert.equal(reason, 'a change is under way')
  },
)

test(
  'a second deletion has the answer of the first, while there are backups',
  { skip },
  async () => {
    const id = await newDatabase('gone')
    await state.query(
      `insert into database_backups (id, database, kind, status, created_at, ended_at, begin_lsn, end_lsn)
     values ('bkp_gone', $1, 'nightly', 'done', now(), now(), '0/0', '0/0')`,
      [id],
    )
    await state.query('update databases set backup_bytes = 1 where id = $1', [id])
    const first = await remove('gone')
    const again = await remove('gone')
    assert.deepEqual({ ...again, restorable_until: '' }, { ...first, restorable_until: '' })
    await reach(id, 'deleted')
    const { rows } = await state.query<{ until: Date }>(
      "select changed_at + interval '7 days' as until from resources where id = $1",
      [id],
    )
    for (const named of ['gone', id])
      assert.equal((await remove(named)).restorable_until, rows[0]?.until.toISOString())
    await state.query('update databases set backup_bytes = 0 where id = $1', [id])
    await assert.rejects(remove('gone'), { code: 'database_not_found' })
    const acts = await state.query("select from audit_entries where action = 'database.delete'")
    assert.equal(acts.rowCount, 1)
  },
)

test('a full database is given the size that it has', { skip }, async () => {
  const id = await newDatabase('full')
  await state.query(
    'update databases set size_bytes = 256000000, stored_bytes = 260000000 where id = $1',
    [id],
  )
  await update(id, { size: '256MB' })
  await assert.rejects(update(id, { size: '257MB' }), { code: 'invalid_request' })
})

test('a resume that could not be paid is tried at once with another budget', { skip }, async () => {
  const id = await newDatabase('unpaid')
  await change(id, true)
  await reach(id, 'suspended')
  await update(id, { energy_budget: '10 J/day' })
  assert.ok(!(await isUnsettled(id)), 'it is wanted suspended')
  await change(id, false)
  await reach(id, 'failed', 'Could not go on: the energy budget is used up')
  const { reason } = await update(id, { energy_budget: null })
  assert.equal(reason, 'a change is under way')
})
