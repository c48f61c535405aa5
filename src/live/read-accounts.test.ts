// Where the readings of live streams are asked: the statements of each turn are parsed once, by the client for frequent queries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadAccounts } from './read-accounts.ts'

test('reads of each turn go by the client for frequent queries', async () => {
  const asked: string[] = []
  const client = (name: string) => ({
    query: async () => {
      asked.push(name)
      return { rows: [], rowCount: 0 }
    },
    transaction: () => Promise.reject(new TypeError('no reading of a turn is a transaction')),
  })
  const read = createReadAccounts({
    state: client('state'),
    frequent: client('frequent'),
    meter: 'node',
    states: {},
  })
  await read.counts(['acct_a'])
  await read.now(['acct_a'])
  await read.newCharges([{ account: 'acct_a', after: '1', until: '2' }], new Map())
  await read.newest(['acct_a'])
  assert.deepEqual(asked, ['frequent', 'frequent', 'frequent', 'frequent'])
})
