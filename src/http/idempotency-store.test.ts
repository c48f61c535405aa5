import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { beginKey, claimKey, type KeyClaim } from './idempotency-store.ts'

const OPTIONS = { skip: whyNoState() }

let state: State
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
  await addTestMember(state, 'owner')
  await state.query("insert into sessions (id, process, life) values ('gw-1.1', 'gw-1', 1)")
})

const claimOf = (request: string): KeyClaim => ({
  token: 'tok_owner',
  path: '/v1/topups',
  key: 'key_1',
  fingerprint: Buffer.alloc(32),
  session: 'gw-1.1',
  request,
})

test('work that began long ago has one owner at a time', OPTIONS, async () => {
  assert.equal((await claimKey(state, claimOf('req_1'))).kind, 'mine')
  assert.equal(await beginKey(state, claimOf('req_1'), { id: 'pay_1' }), true)
  assert.equal((await claimKey(state, claimOf('req_2'))).kind, 'running')
  await state.query(
    `update idempotency_keys set begun_at = begun_at - interval '16 minutes',
       taken_at = taken_at - interval '16 minutes'`,
  )
  assert.deepEqual(await claimKey(state, claimOf('req_3')), {
    kind: 'mine',
    begun: { id: 'pay_1' },
  })
  assert.equal((await claimKey(state, claimOf('req_4'))).kind, 'running')
})
