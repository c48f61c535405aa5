// The words for a resource that is not there, on a state of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { notFoundWords } from './not-found.ts'

const skip = whyNoState()
let state: State
ledgerOfFile(2, async (made) => {
  state = made
  for (const id of ['acct_a', 'acct_b'])
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
})

const add = (account: string, kind: string, name: string) =>
  state.query("select add_resource($1, $2, $3, 'local', 9)", [kind, account, name])
const wordsFor = (wanted: string) =>
  notFoundWords(state, { account: 'acct_a', kind: 'function', wanted })

test(
  'a name that is not there is told with the nearest one of the account and kind',
  { skip },
  async () => {
    await add('acct_a', 'function', 'greeting')
    await add('acct_a', 'workload', 'hello-api')
    await add('acct_b', 'function', 'hallo')
    assert.equal(
      await wordsFor('greetnig'),
      'Could not find the function: "greetnig"; did you mean "greeting"?',
    )
    assert.equal(await wordsFor('hallo'), 'Could not find the function: "hallo"')
    assert.equal(await wordsFor('hello-apy'), 'Could not find the function: "hello-apy"')
    assert.equal((await wordsFor('x'.repeat(5000))).length, 131)
    await state.query("select want_resource(id, 'deleted') from resources where name = 'greeting'")
    assert.equal(await wordsFor('greetnig'), 'Could not find the function: "greetnig"')
  },
)
