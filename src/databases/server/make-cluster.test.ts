// Which databases get empty files, on a state without servers.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { lostDatabases, makeCluster } from './make-cluster.ts'

const skip = whyNoState()

test(
  'make-cluster makes no empty files for a database that answered before, or that was restored',
  { skip },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ergon-clusters-'))
    t.after(() => rmSync(folder, { recursive: true }))
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
    const add = async (name: string): Promise<string> => {
      const text = "select add_database('acct_a', $1, 'local', 99, 1000000) as id"
      return (await state.query<{ id: string }>(text, [name])).rows[0]?.id ?? ''
    }
    const made = (id: string): Promise<void> => {
      const install = () => Promise.reject(new TypeError('it would be made'))
      const deps = { state, folder, install, superuserPassword: undefined }
      return makeCluster(deps as never, { id } as never, t.signal)
    }
    const [fresh, answered, restored] = [await add('fresh'), await add('old'), await add('two')]
    await state.query("update databases set postgres_version = '16.4' where id = $1", [answered])
    await state.query('select want_restore($1, $2, null, null)', [restored, answered])
    await assert.rejects(made(fresh), /it would be made/)
    await assert.rejects(made(restored), /it would be made/)
    await state.query("update database_restores set status = 'done' where database = $1", [
      restored,
    ])
    await assert.rejects(made(answered), {
      words: 'its files are missing, and it has no backup: it can only be deleted',
    })
    for (const id of [answered, restored])
      await state.query(
        `insert into database_backups (id, database, kind, status, created_at)
         values ('bkp_' || $1, $1, 'nightly', 'done', ledger_now())`,
        [id],
      )
    for (const id of [answered, restored])
      await assert.rejects(made(id), {
        words: /^its files are missing; the operator/,
        log: new RegExp(`^its files are missing: ${join(folder, id)};`),
      })
    const lost = await lostDatabases(state, folder)
    assert.deepEqual(
      lost.map(({ id, name }) => [id, name]),
      [
        [answered, 'old'],
        [restored, 'two'],
      ],
    )
    assert.deepEqual(readdirSync(folder), [])
    // The operator is not told again of a database whose restore is under way.
    await state.query("update database_restores set status = 'running' where database = $1", [
      restored,
    ])
    await state.query("update databases set postgres_version = '16.4' where id = $1", [restored])
    assert.deepEqual(
      (await lostDatabases(state, folder)).map(({ isRestoring }) => isRestoring),
      [false, true],
    )
  },
)
