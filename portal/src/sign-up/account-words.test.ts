// An invitation says whose account it is of, with or without a name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountWords } from './account-words.ts'

test('accountWords() says whose account it is where the account has no name', () => {
  const account = { account_id: 'acct_1', account_name: null, account_owner: 'Ada', name: 'Bob' }
  assert.equal(accountWords({ ...account, account_name: 'my-team' }), 'my-team')
  assert.equal(accountWords(account), 'the account of Ada (acct_1)')
  assert.equal(accountWords({ ...account, name: 'Ada' }), 'the account acct_1')
  assert.equal(accountWords({ ...account, account_owner: null }), 'the account acct_1')
})
