// An entry of a charge carries what its receipt proves: the hash of its leaf, and how its energy is known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargeBytes } from '#contract/ledger/charge.ts'
import { bandOfParts } from '#contract/ledger/known.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { leafOf } from '#tlog/leaf.ts'
import { ledgerEntryOf } from './entry-reply.ts'
import type { LedgerRow } from './ledger-entry.ts'

const row: LedgerRow = {
  at: new Date('2026-11-25T00:00:00Z'),
  at_us: '2026-11-25T00:00:00.000000Z',
  rank: 0,
  number: '7',
  id: 'rcpt_1',
  kind: 'charge',
  amount: '-24863',
  operation: 'chat.create',
  model: 'smollm2-135m-instruct',
  energy: '358035898',
  reference: null,
  charge: null,
}

test('ledgerEntryOf() has the leaf hash, the token, the method and the band of a charge', () => {
  const charge = { ...chargeOf(1), token: 'tok_1' }
  const bytes = chargeBytes(charge)
  const entry = ledgerEntryOf({ ...row, charge: bytes })
  assert.equal(entry.leaf_hash, leafOf({ accountSeq: 7n, bytes }).toString('hex'))
  const known = bandOfParts(charge.parts)
  assert.deepEqual([entry.method, entry.band_pct], [known.method, String(known.bandPct)])
  assert.equal(entry.token, 'tok_1')
  const transfer = ledgerEntryOf({ ...row, rank: 1, kind: 'topup', operation: null, energy: null })
  assert.deepEqual(
    [transfer.leaf_hash, transfer.method, transfer.band_pct, transfer.resource, transfer.token],
    [null, null, null, null, null],
  )
})
