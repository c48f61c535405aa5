// The number of backups by hand. On a state without servers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MANUAL_BACKUPS_MAX } from '#contract/databases/databases-max.ts'
import { addTestAccount, addTestMember, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { createBackupCreate } from './database-backup-create.ts'

const ACCOUNT = 'acct_a'
const SETTINGS = {
  isOn: true,
  passwordKey: '00'.repeat(32),
  region: 'local',
  host: 'localhost',
  socketFolder: '/nowhere',
  port: 5432,
  backupsKeptMs: 0,
}

test(
  'a database has a number of backups by hand; one that waits already is no further one',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    await addTestMember(state, ACCOUNT)
    const { rows } = await state.query<{ id: string }>(
      "select add_database($1, 'notes', 'local', 99, 1000000) as id",
      [ACCOUNT],
    )
    const database = rows[0]?.id ?? assert.fail()
    for (const reached of ['deploying', 'deployed'])
      await state.query('select move_resource($1, $2)', [database, reached])
    const ask = createBackupCreate({ state, settings: SETTINGS })
    const create = async () =>
      await ask({
        caller: { account: ACCOUNT, token: `tok_${ACCOUNT}` },
        spend: { requestId: 'req_1' },
        parameters: { database: 'notes' },
        body: {},
      } as never)
    const count = async (kind: string) =>
      (
        await state.query('select from database_backups where database = $1 and kind = $2', [
          database,
          kind,
        ])
      ).rowCount
    const end = () => state.query("update database_backups set status = 'done'")
    await state.query("select want_backup($1, 'nightly')", [database])
    for (let nth = 1; nth < MANUAL_BACKUPS_MAX; nth++) {
      await create()
      await end()
    }
    await create()
    await create()
    assert.equal(await count('manual'), MANUAL_BACKUPS_MAX)
    await end()
    await assert.rejects(create(), {
      code: 'too_many_backups',
      message: `Could not back up "notes": a database has at most ${MANUAL_BACKUPS_MAX} backups by hand`,
    })
    assert.equal(await count('manual'), MANUAL_BACKUPS_MAX)
    await state.query(
      "delete from database_backups where id = (select min(id) from database_backups where kind = 'manual')",
    )
    await create()
    assert.deepEqual([await count('manual'), await count('nightly')], [MANUAL_BACKUPS_MAX, 1])
  },
)
