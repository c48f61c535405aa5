import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '#state/connect.ts'
import { createDatabaseCreate } from './database-create.ts'

test('a node that runs no databases says so, and asks the state nothing', async () => {
  const settings = {
    isOn: false,
    passwordKey: '',
    region: 'local',
    host: 'localhost',
    socketFolder: '/nowhere',
    port: 5432,
    backupsKeptMs: 0,
  }
  const create = createDatabaseCreate({ state: {} as State, settings })
  const body = { name: 'notes', region: 'auto', size: '1GB' }
  await assert.rejects(async () => create({ caller: { account: 'acct_1' }, body } as never), {
    code: 'databases_off',
    status: 503,
  })
})
