// Test money that the operator adds, repeated under one key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { accountHandlers } from './accounts.ts'

const OPTIONS = { skip: whyNoState() }
const CALL = { signal: new AbortController().signal, progress: () => undefined }

let state: State
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
})

const add = async (pusd: string, key?: string) =>
  await accountHandlers(state, () => ({ id: '', secret: '' }))['funds.add'](
    { account: 'owner', pusd, ...(key && { idempotency_key: key }) },
    CALL,
  )
const balance = async () =>
  (await state.query("select posted::int from wallets where id = 'money:owner'")).rows[0]?.[
    'posted'
  ]

test('funds.add adds once for its key', OPTIONS, async () => {
  const first = await add('1000', 'again')
  assert.deepEqual(await add('1000', 'again'), first)
  assert.equal(await balance(), 1000)
  await assert.rejects(add('2000', 'again'), { code: 'idempotency_key_reused' })
  await add('1000', 'another')
  await add('1000')
  assert.equal(await balance(), 3000)
})
