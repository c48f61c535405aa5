import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { chargeBytes } from '#contract/ledger/charge.ts'
import type { OperationCall } from '#http/reply.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { sumUsage } from '#ledger/usage.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { createDatabaseEnergy } from './database-energy.ts'

const ACCOUNT = 'acct_1'
const HOUR_MS = 3_600_000
const FIRST_MS = Date.parse('2026-03-01T10:00:00Z')
const at = (ms: number) => new Date(ms).toISOString()

type Energy = {
  readonly energy_nj: string
  readonly server_j: number
  readonly data: readonly { readonly at: string; readonly energy_nj: string }[]
}

async function newDatabase(state: State): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    "select add_database($1, 'notes', 'local', 9, 1000000) as id",
    [ACCOUNT],
  )
  const id = rows[0]?.id ?? ''
  await state.query(
    "insert into database_roles (name, database, revision, verifier) values ($1, $2, 1, '')",
    [`u_${id.slice(3)}`, id],
  )
  return id
}

/** Charges that end then, 1 nJ, 2 nJ, 4 nJ … of the resource. */
async function charge(
  state: State,
  first: number,
  charges: readonly { resource: string; operation: string; endMs: number }[],
): Promise<void> {
  for (const [place, { resource, operation, endMs }] of charges.entries()) {
    const nth = first + place
    const made = {
      ...chargeOf(nth),
      account: ACCOUNT,
      operation,
      resource: chargedResource(resource),
    }
    await state.query(
      `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, resource, status,
        energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
       values ('agent.1', $1::bigint, $2, $3, $1 + 1, $1, $4, $8, 200, $5, 0, 0, false, $6, '', $7)`,
      [nth, made.id, ACCOUNT, operation, 2 ** place, at(endMs), chargeBytes(made), resource],
    )
  }
}

test(
  'the energy of a database is that of its id, from a time to before another, as in usage',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const deleted = await newDatabase(state)
    await state.query('select delete_database($1)', [deleted])
    const id = await newDatabase(state)
    const get = createDatabaseEnergy({ state, now: () => FIRST_MS })
    const ask = async (from: number, to: number): Promise<Energy> => {
      const query = () => new URLSearchParams({ from: at(from), to: at(to), by: 'hour' })
      const asked = { caller: { account: ACCOUNT }, parameters: { database: 'notes' }, query }
      const reply = (await get(asked as unknown as OperationCall)) as unknown as {
        body: () => string
      }
      return JSON.parse(reply.body()) as Energy
    }
    const lastMs = FIRST_MS + HOUR_MS
    const operations = ['cell.standing', 'database.standing', 'database.session', 'database.backup']
    await charge(
      state,
      0,
      operations.map((operation) => ({ resource: deleted, operation, endMs: FIRST_MS + 1 })),
    )
    assert.equal((await ask(FIRST_MS, lastMs)).energy_nj, '0', 'of the deleted one')

    await state.query('alter table charges disable trigger user')
    await state.query('delete from charges')
    const own = { resource: id, operation: 'cell.standing' }
    await charge(state, 10, [
      { ...own, endMs: FIRST_MS - 1 },
      { ...own, endMs: FIRST_MS },
      { ...own, endMs: FIRST_MS + 1 },
      { ...own, endMs: lastMs - 1, operation: 'database.session' },
      { ...own, endMs: lastMs },
    ])
    for (const [from, to, energy] of [
      [FIRST_MS, lastMs, 2 + 4 + 8],
      [FIRST_MS - HOUR_MS, FIRST_MS, 1],
      [lastMs, lastMs + 1, 16],
    ] as const) {
      const span = { account: ACCOUNT, from: new Date(from), to: new Date(to) }
      const used = await sumUsage(state, span, "'all'", { offset: 0, limit: 1 })
      const sums = await ask(from, to)
      assert.deepEqual([sums.energy_nj, used[0]?.energy], [String(energy), String(energy)])
    }
    const { data, server_j: serverJ } = await ask(FIRST_MS, lastMs + 1)
    assert.equal(serverJ, 2.2e-8)
    assert.deepEqual(
      data.map((step) => [step.at, step.energy_nj]),
      [
        [at(FIRST_MS), '14'],
        [at(lastMs), '16'],
      ],
    )
  },
)

test(
  'the energy of a deleted database is answered by its id, and by its name while it alone has backups',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const get = createDatabaseEnergy({ state, now: () => FIRST_MS })
    const ask = async (database: string): Promise<string> => {
      const query = () => new URLSearchParams({ from: at(FIRST_MS), to: at(FIRST_MS + HOUR_MS) })
      const asked = { caller: { account: ACCOUNT }, parameters: { database }, query }
      const reply = (await get(asked as unknown as OperationCall)) as unknown as {
        body: () => string
      }
      return (JSON.parse(reply.body()) as Energy).energy_nj
    }
    const remove = async (id: string, bytes: number) => {
      await state.query('update databases set backup_bytes = $2 where id = $1', [id, bytes])
      await state.query('select delete_database($1)', [id])
    }
    const first = await newDatabase(state)
    await remove(first, 100)
    const operation = 'database.standing'
    await charge(state, 0, [{ resource: first, operation, endMs: FIRST_MS + 1 }])
    assert.deepEqual([await ask(first), await ask('notes')], ['1', '1'])
    // Another one of the name is meant by the name, and then none of two.
    const second = await newDatabase(state)
    assert.deepEqual([await ask(first), await ask('notes')], ['1', '0'])
    await remove(second, 100)
    const names = { code: 'database_not_found', message: new RegExp(`${second}, ${first}$`) }
    await assert.rejects(ask('notes'), names)
    await state.query('update databases set backup_bytes = 0')
    await assert.rejects(ask('notes'), { code: 'database_not_found', message: /: "notes"$/ })
    assert.equal(await ask(first), '1')
    await assert.rejects(ask('db_none'), { code: 'database_not_found' })
  },
)
