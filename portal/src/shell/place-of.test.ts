// Any id leads to the page of its thing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOOKUP_ID } from '#contract/accounts/lookup-id.ts'
import { placeOf } from './place-of.ts'

test('placeOf() leads to the page of a thing, and to the ledger for what has none', () => {
  assert.equal(placeOf('/v1/receipts/rcpt_1', 'rcpt_1'), '/ledger/rcpt_1')
  assert.equal(placeOf('/v1/databases/orders', 'db_1'), '/databases/orders')
  assert.equal(placeOf('/v1/functions/fn_1', 'fn_1'), '/functions/fn_1')
  assert.equal(placeOf('/v1/workloads/wl_1', 'wl_1'), '/workloads/wl_1')
  assert.equal(placeOf('/v1/deployments/dep_1', 'dep_1'), '/deployments/dep_1')
  assert.equal(placeOf('/v1/tokens?limit=1', 'tok_1'), '/tokens')
  assert.equal(placeOf('/v1/events/evt_1', 'evt_1'), '/events?event=evt_1')
  assert.equal(placeOf('/v1/transfers/tr_1', 'tr_1'), '/ledger?id=tr_1')
})

test('every id that the lookup takes is an id for the palette: short ones and those of long prefixes too', () => {
  for (const id of [
    'tr_1',
    'passkey_01kbd3v3bhep8t0b5bqkt0g4z9',
    'chatcmpl_01kbd3v3bhep8t0b5bqkt0g4z9',
  ])
    assert.match(id, LOOKUP_ID)
  for (const text of ['tokens', 'my_Token', '_1']) assert.doesNotMatch(text, LOOKUP_ID)
})
