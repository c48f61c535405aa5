import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, addTestMember, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { namedGroups } from './group-names.ts'

const ACCOUNT = 'acct_0'

test(
  'namedGroups() of tokens and resources tell sign-ins and the account itself from what has a name',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 1)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 1n })
    await addTestMember(state, ACCOUNT)
    await state.query(
      `insert into tokens (id, account, member, hash, hint, name, scope, is_session)
       values ('tok_s', $1, 'mem_' || $1, 's'::bytea, '', 'portal session', 'deploy', true)`,
      [ACCOUNT],
    )
    const named = async (groupBy: string, ...ids: readonly string[]) => {
      const of = await namedGroups(state, { account: ACCOUNT, groupBy, ids })
      return [...ids, null].map((id) => of?.(id))
    }
    const none = { kind: null, name: null }
    assert.deepEqual(await named('token', `tok_${ACCOUNT}`, 'tok_s', 'tok_other'), [
      { kind: 'token', name: 'x' },
      { kind: 'session', name: 'portal session' },
      none,
      none,
    ])
    assert.deepEqual(await named('resource', ACCOUNT, 'db_1'), [
      { kind: 'account', name: null },
      { kind: 'database', name: null },
      none,
    ])
    assert.deepEqual(await named('model', 'small'), [undefined, undefined])
  },
)
