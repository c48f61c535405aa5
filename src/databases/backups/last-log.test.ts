// The end of a deletion whose database has log that is not stored: by a server that runs once more, or after a number of
// tries. On a state of its own, with servers that do not start or whose log nobody stores.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fault } from '#contract/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Resource } from '#resources/resource.ts'
import type { State } from '#state/connect.ts'
import { keepLastLog } from './last-log.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const COPIED_AT = '2026-03-01T14:00:00.000Z'
const STORED_AT = '2026-03-01T14:30:00.000Z'
/** More tries than any deletion may take. */
const TRIES_MAX = 100

let url: Awaited<ReturnType<typeof openTestUrl>>
let state: State
let folder: string
before(async () => {
  if (skip !== false) return
  folder = mkdtempSync(join(tmpdir(), 'ergon-last-log-'))
  url = await openTestUrl()
  state = await openLedgerState(url.of, 1)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await url?.[Symbol.asyncDispose]()
  if (folder !== undefined) rmSync(folder, { recursive: true })
})

/** A deleted database with a copy of its files, files on the disk, and log that is stored to a time. */
async function deleted(name: string): Promise<Resource> {
  const made = await state.query<{ id: string }>(
    "select add_database($1, $2, 'local', 99, 1000000) as id",
    [ACCOUNT, name],
  )
  const id = made.rows[0]?.id ?? assert.fail()
  for (const reached of ['deploying', 'deployed'])
    await state.query('select move_resource($1, $2)', [id, reached])
  await state.query(
    `insert into database_backups (id, database, kind, status, created_at, ended_at, begin_lsn, end_lsn)
     values ('bkp_' || $1, $1, 'nightly', 'done', $2, $2, '0/100000', '0/200000')`,
    [id, COPIED_AT],
  )
  await state.query('update databases set is_archived = false, log_stored_at = $2 where id = $1', [
    id,
    STORED_AT,
  ])
  await state.query('select delete_database($1)', [id])
  mkdirSync(join(folder, id, 'data'), { recursive: true })
  return { id, account: ACCOUNT, name }
}

/** The part of the agent that a deletion needs. */
const coreOf = (): Parameters<typeof keepLastLog>[0] => ({
  state,
  log: { error: () => undefined },
  storing: () => Promise.resolve(),
  data: { at: (...words) => join(folder, ...words.slice(1)) },
  followedMs: 1,
})

/** Tries until the deletion goes on; returns how many there were. */
async function triesOf(resource: Resource, start: () => Promise<void>): Promise<number> {
  const servers = {
    async alone<T>(_database: Resource, work: () => Promise<T>): Promise<T> {
      await start()
      return await work()
    },
  }
  for (let tries = 1; tries <= TRIES_MAX; tries++)
    try {
      await keepLastLog(coreOf(), servers, resource)
      return tries
    } catch {
      // The reconciler tries again.
    }
  return assert.fail('the deletion never ends')
}

async function told(id: string): Promise<unknown> {
  const { rows } = await state.query<{ data: unknown }>(
    "select data - 'sequence' - 'account_id' as data from events where type = 'database.log_lost' and data ->> 'database_id' = $1",
    [id],
  )
  return rows.map(({ data }) => data)
}

const lostFrom = async (id: string) =>
  (
    await state.query<{ at: Date | null }>('select log_lost_from($1) as at', [id])
  ).rows[0]?.at?.toISOString() ?? null

/** The last time that can be restored; null where that is now. */
const lastTime = async (id: string) =>
  (
    await state.query<{ at: Date | null }>(
      'select to_at as at from restorable_times($1, 999999999999) order by from_at desc limit 1',
      [id],
    )
  ).rows[0]?.at?.toISOString() ?? null

const UNPAID = fault('balance_depleted', 'there is no money')
const DAMAGED = 'Could not start the server of "broken": its files are damaged'
const fails = (error: Error) => () => Promise.reject(error)

test(
  'keepLastLog() gives the last part up at once where the files are gone',
  { skip },
  async () => {
    const resource = await deleted('gone')
    rmSync(join(folder, resource.id), { recursive: true })
    assert.equal(await triesOf(resource, fails(UNPAID)), 1)
    assert.equal(await lastTime(resource.id), STORED_AT)
    const since = { since: STORED_AT, reason: 'its files are missing' }
    const named = { database_id: resource.id, database_name: 'gone' }
    assert.deepEqual(await told(resource.id), [{ ...named, ...since }])
  },
)

test(
  'keepLastLog() starts no restored files that are not recovered, and no folder without a cluster',
  { skip },
  async () => {
    const recovering = await deleted('recovering')
    writeFileSync(join(folder, recovering.id, 'recovering'), '')
    const empty = await deleted('empty')
    rmSync(join(folder, empty.id, 'data'), { recursive: true })
    for (const resource of [recovering, empty]) {
      assert.equal(await triesOf(resource, () => assert.fail('the server starts')), 1)
      assert.equal(await lastTime(resource.id), STORED_AT)
      assert.match(JSON.stringify(await told(resource.id)), /its files are missing/)
    }
  },
)

test(
  'keepLastLog() gives up after five starts that fail, and the times that can be restored end there',
  { skip },
  async () => {
    const resource = await deleted('broken')
    assert.equal(await lastTime(resource.id), null)
    assert.equal(await triesOf(resource, fails(fault('database_not_ready', DAMAGED))), 5)
    const event = {
      database_id: resource.id,
      database_name: 'broken',
      since: STORED_AT,
      reason: DAMAGED,
    }
    assert.deepEqual(await told(resource.id), [event])
    assert.equal(await lostFrom(resource.id), STORED_AT)
    assert.equal(await lastTime(resource.id), STORED_AT)
    const alarms = await state.query(
      "select from alarms where kind = 'database_log_lost' and detail ->> 'database' = $1",
      [resource.id],
    )
    assert.equal(alarms.rowCount, 1)
    // As after a kill before its files were removed.
    assert.equal(await triesOf(resource, fails(UNPAID)), 1)
    assert.deepEqual(await told(resource.id), [event])
  },
)

test(
  'keepLastLog() waits for more than a day where the energy of the start is not paid',
  { skip },
  async () => {
    const resource = await deleted('unpaid')
    const hours = async (count: number) =>
      await state.query(
        'update databases set last_log_tried_from = ledger_now() - make_interval(hours => $2) where id = $1',
        [resource.id, count],
      )
    let starts = 0
    const start = async () => {
      starts++
      if (starts === 50) await hours(24)
      if (starts === 60) await hours(27)
      throw UNPAID
    }
    assert.equal(await triesOf(resource, start), 60)
    assert.equal(await lostFrom(resource.id), STORED_AT)
    assert.equal(JSON.stringify(await told(resource.id)).includes('there is no money'), true)
  },
)

test(
  'keepLastLog() waits for more than a day on a node that runs no databases, and ends then',
  { skip },
  async () => {
    const resource = await deleted('off')
    let tries = 0
    const storing = async () => {
      if (++tries === 60)
        await state.query(
          "update databases set last_log_tried_from = ledger_now() - interval '27 hours' where id = $1",
          [resource.id],
        )
      throw fault('databases_off', 'Could not start the server of "off"')
    }
    const servers = { alone: () => assert.fail('the server starts') }
    const trying = () => keepLastLog({ ...coreOf(), storing }, servers, resource)
    while (tries < 59) await assert.rejects(trying, { code: 'databases_off' })
    await trying()
    assert.equal(await lostFrom(resource.id), STORED_AT)
    assert.match(JSON.stringify(await told(resource.id)), /Could not start the server of/)
  },
)

test('tries that fail for one cause are not counted for another one', { skip }, async () => {
  const resource = await deleted('in-turns')
  let starts = 0
  const start = async () => {
    starts++
    // A store that is away, then one failed start, an account without funds, and three failed starts.
    if (starts === 7 || (starts > 50 && starts < 54)) throw fault('database_not_ready', DAMAGED)
    if (starts > 7 && starts < 54) throw UNPAID
    if (starts === 60)
      await state.query('update databases set is_archived = true where id = $1', [resource.id])
  }
  assert.equal(await triesOf(resource, start), 60)
  assert.equal(await lostFrom(resource.id), null)
})

test(
  'the energy budget of a deleted database does not limit the last start for its log',
  { skip },
  async () => {
    const resource = await deleted('limited')
    await state.query("select set_budget($1, $2, 1, '{}')", [resource.id, ACCOUNT])
    const start = async () => {
      const { rowCount } = await state.query('select from budgets where id = $1', [resource.id])
      if (rowCount > 0) throw fault('budget_exhausted', 'the budget is used up')
      await state.query('update databases set is_archived = true where id = $1', [resource.id])
    }
    assert.equal(await triesOf(resource, start), 1)
    assert.equal(await lostFrom(resource.id), null)
  },
)

test(
  'keepLastLog() starts the server once the process that stores logs runs',
  { skip },
  async () => {
    const resource = await deleted('stored-by-nobody')
    let isRunning = false
    const core = { ...coreOf(), storing: async () => void (isRunning = true) }
    const servers = {
      async alone<T>(_database: Resource, work: () => Promise<T>): Promise<T> {
        assert.ok(isRunning)
        await state.query('update databases set is_archived = true where id = $1', [resource.id])
        return await work()
      },
    }
    await keepLastLog(core, servers, resource)
  },
)

test(
  'a deletion tells of a part that was lost, where no copy was made since',
  { skip },
  async () => {
    const resource = await deleted('uncopied')
    await state.query("select note_log_gap($1, '0/300000', '0/400000')", [resource.id])
    await state.query('update databases set is_archived = true where id = $1', [resource.id])
    for (const _ of [1, 2])
      assert.equal(await triesOf(resource, () => assert.fail('the server starts')), 1)
    const [event, ...more] = (await told(resource.id)) as { since: string }[]
    assert.deepEqual([event?.since, more], [STORED_AT, []])
    assert.equal(await lostFrom(resource.id), STORED_AT)
    assert.equal(await lastTime(resource.id), STORED_AT)
  },
)

test(
  'keepLastLog() waits longer for a store that is away, and gives up then',
  { skip },
  async () => {
    const resource = await deleted('unstored')
    assert.equal(await triesOf(resource, () => Promise.resolve()), 30)
    assert.equal(await lostFrom(resource.id), STORED_AT)
  },
)

test('keepLastLog() loses nothing once the log is stored', { skip }, async () => {
  const resource = await deleted('stored')
  let starts = 0
  const start = async () => {
    starts++
    if (starts < 3) throw fault('database_not_ready', 'not yet')
    await state.query('update databases set is_archived = true where id = $1', [resource.id])
  }
  assert.equal(await triesOf(resource, start), 3)
  assert.deepEqual(await told(resource.id), [])
  assert.equal(await lostFrom(resource.id), null)
})
