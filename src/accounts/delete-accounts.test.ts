import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { deleteAccounts } from './delete-accounts.ts'

/** As many as a run takes, which wait, and one more. */
const WAITING = 20
const log = createLogger('test', { level: 'error', write: () => undefined })
const { signal } = new AbortController()

let state: State
ledgerOfFile(1, async (opened) => {
  state = opened
  for (let nth = 0; nth <= WAITING; nth++) {
    const id = `acct_${String(nth).padStart(2, '0')}`
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
    await state.query(
      "insert into account_deletions (account, asked_at, due_at) values ($1, now(), now() - interval '1 day')",
      [id],
    )
  }
})

test(
  'deletions that wait, fail or take the time of a run hold up no other one',
  { skip: whyNoState() },
  async () => {
    const asked: string[] = []
    const run = async (answer: (account: string) => string | undefined) => {
      const leave = async (account: string) => {
        asked.push(account)
        return answer(account)
      }
      await deleteAccounts({ state, log, leaves: () => [{ name: 'payments', leave }] }, signal)
      return asked.splice(0)
    }
    const waits = (account: string) => (account === 'acct_20' ? undefined : 'refunds are under way')
    const first = await run(waits)
    assert.equal(first.length, WAITING)
    const second = await run(waits)
    // The one that was not asked is the first.
    const last = second.filter((account) => !first.includes(account))
    assert.equal(last.length, 1)
    assert.equal(second[0], last[0])
    const done = await state.query<{ account: string }>(
      'select account from account_deletions where done_at is not null',
    )
    assert.deepEqual(done.rows, [{ account: 'acct_20' }])
    // Failures have no other order: each of the twenty has its turn again.
    const fails = () => {
      throw new TypeError('it fails')
    }
    assert.deepEqual((await run(fails)).toSorted(), (await run(fails)).toSorted())
    const ending = new AbortController()
    const cut = async (account: string) => {
      asked.push(account)
      ending.abort()
      throw new TypeError('cut off')
    }
    const leaves = () => [{ name: 'payments', leave: cut }]
    await assert.rejects(deleteAccounts({ state, log, leaves }, ending.signal), /cut off/)
    const [slow] = asked.splice(0)
    assert.equal((await run(waits)).at(-1), slow)
  },
)

test('the stored answers of an account end with the account', { skip: whyNoState() }, async () => {
  for (const id of ['erased', 'other']) {
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
    await addTestMember(state, id)
    await state.query(
      `insert into idempotency_keys (token, path, key, fingerprint, session, request, status, body)
       values ('tok_' || $1, '/v1/one', 'key', '', 'gw-1.1', 'req_1', 201, 'a name')`,
      [id],
    )
  }
  await state.query("select erase_account('erased')")
  const { rows } = await state.query('select token from idempotency_keys')
  assert.deepEqual(rows, [{ token: 'tok_other' }])
})
