// Reads of buckets beside the S3 protocol, on a state in which no page can be read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationCall } from '#http/reply.ts'
import { createDamages } from '#objects/damage.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { storageAccount } from './account-part.ts'
import { createStorageBuckets } from './buckets/storage-buckets.ts'

test('reads of buckets beside S3 tell the operator of a page that cannot be read, and throw what the state threw', async () => {
  const raised: unknown[] = []
  const error = new ServerError('invalid page in block 7', 'XX001', false)
  const query: Queryable['query'] = async (text, values) => {
    if (!text.includes('raise_alarm')) throw error
    raised.push(JSON.parse(String(values?.[1])))
    return { rows: [], rowCount: 0 }
  }
  const state = createDamages({ state: { query }, log: quiet }).tellingState({ query })
  const account = storageAccount(state)
  const { signal } = new AbortController()
  const call = {
    caller: { account: 'acct_1' },
    query: () => new URLSearchParams(),
  } as unknown as OperationCall
  const reads = {
    list: async () => await createStorageBuckets({ state })(call),
    export: async () =>
      await account.records?.['bucket']?.('acct_1', signal)[Symbol.asyncIterator]().next(),
    locks: async () => await account.obstacles?.('acct_1', new Date()),
  }
  for (const [name, read] of Object.entries(reads)) await assert.rejects(read(), error, name)
  const alarm = { task: 'request', found: error.message }
  assert.deepEqual(raised, [alarm, alarm, alarm])
})
