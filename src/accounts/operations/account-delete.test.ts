// The role of the member that asks is that of the state: a gateway may know an older one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationCall, Handler } from '#http/reply.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createAccountDelete, createAccountRestore } from './account-delete.ts'

let state: State
ledgerOfFile(2, (opened) => {
  state = opened
})

const { signal } = new AbortController()
/** A request of a gateway that takes the member for an owner. */
const asked = (body: object): OperationCall<never> =>
  ({
    caller: { account: 'left', token: 'tok_left', member: 'mem_left', role: 'owner', env: 'test' },
    body,
    signal,
    spend: { requestId: 'req_1' },
  }) as never

test(
  'a member that is no owner any more neither deletes nor restores the account',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'left', env: 'test', lowWater: 0n })
    await state.query(
      `insert into members (id, account, name, role, state) values ('mem_left', 'left', 'Ada', 'admin', 'active')`,
    )
    await state.query(
      `insert into tokens (id, account, member, hash, hint, name, scope)
       values ('tok_left', 'left', 'mem_left', '\\x01', 'h', 'n', 'billing-admin')`,
    )
    const remove = createAccountDelete({ state, days: 7, parts: () => [] }) as Handler<never>
    const refused = { code: 'role_missing' }
    await assert.rejects(async () => remove(asked({ confirm: 'left', at_once: false })), refused)
    assert.deepEqual((await state.query('select from account_deletions')).rows, [])
    await state.query(
      `insert into account_deletions (account, asked_at, due_at) values ('left', now(), now() + interval '1 day')`,
    )
    await assert.rejects(async () => createAccountRestore({ state })(asked({})), refused)
    assert.equal((await state.query('select from account_deletions')).rowCount, 1)
    await state.query("update members set role = 'owner' where id = 'mem_left'")
    await createAccountRestore({ state })(asked({}))
    assert.equal((await remove(asked({ confirm: 'left', at_once: false }))).kind, 'known')
  },
)
