// Any id leads to the page of its thing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOf } from './place-of.ts'

test('placeOf() leads to the page of a thing, and to the ledger for what has none', () => {
  assert.equal(placeOf('/v1/receipts/rcpt_1', 'rcpt_1'), '/ledger/rcpt_1')
  assert.equal(placeOf('/v1/databases/orders', 'db_1'), '/databases/orders')
  assert.equal(placeOf('/v1/tokens?limit=1', 'tok_1'), '/tokens')
  assert.equal(placeOf('/v1/events/evt_1', 'evt_1'), '/ledger?id=evt_1')
})
