// Versions that are added and wanted at once: what is wanted is always there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, State } from '#state/connect.ts'
import { readVersions } from './versions.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const KEPT = 3

let state: State
ledgerOfFile(8, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})

const addVersion = async (on: Queryable, id: string) =>
  (await on.query<{ n: number }>('select add_version($1, $2) as n', [id, KEPT])).rows[0]?.n

async function withVersions(name: string): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    "select add_resource('function', $1, $2, 'local', 9) as id",
    [ACCOUNT, name],
  )
  const id = rows[0]?.id ?? ''
  for (let nth = 1; nth <= KEPT; nth++) assert.equal(await addVersion(state, id), nth)
  await state.query('select make_version_live($1, $2)', [id, KEPT])
  return id
}

/** Does it while another transaction has changed the resource, and lets that one commit when it waits. */
async function behind<T>(
  change: (on: Queryable) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  let working: Promise<T> | undefined
  await state.transaction(async (transaction) => {
    await change(transaction)
    working = work()
    working.catch(() => undefined)
    for (;;) {
      const { rowCount } = await transaction.query('select from pg_locks where not granted')
      if (rowCount > 0) break
    }
  })
  assert.ok(working !== undefined)
  return await working
}

test(
  'a rollback behind a deploy wants a version that the deploy left',
  { skip, timeout: 20_000 },
  async () => {
    const id = await withVersions('rolled-back')
    const rollBack = async () =>
      (await state.query<{ n: number | null }>('select roll_back_version($1, 1) as n', [id]))
        .rows[0]?.n
    // The fourth version takes the place of the first.
    const version = await behind((on) => addVersion(on, id), rollBack)
    assert.equal(version, null)
    assert.equal((await readVersions(state, id))?.wanted, 4)
  },
)

test('two deploys at once add a version each', { skip, timeout: 20_000 }, async () => {
  const id = await withVersions('deployed-twice')
  const version = await behind(
    (on) => addVersion(on, id),
    () => addVersion(state, id),
  )
  assert.equal(version, 5)
  assert.equal((await readVersions(state, id))?.wanted, 5)
})
