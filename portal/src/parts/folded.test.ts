// Reads of the account in a short list of charges.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folded, isFolded } from './folded.ts'
import type { Row } from './ledger-row.ts'

const row = (id: string, service: string, operation: string): Row => ({
  id,
  at: '2026-11-25T00:00:00.000Z',
  kind: 'charge',
  service,
  operation,
  subject: null,
  amount: -1n,
  nj: 5n,
  how: null,
  leafHash: undefined,
  token: null,
})
const shown = (rows: readonly Row[]) =>
  folded(rows).map((one) => (isFolded(one) ? `${one.id}: ${one.count}, ${one.nj}` : one.id))

test('neighbouring reads are one row with their sum, and what was asked for keeps its place', () => {
  const rows = [
    row('a', 'other', 'usage.get'),
    row('b', 'databases', 'database.list'),
    row('c', 'inference', 'chat.create'),
    row('d', 'workloads', 'workload.logs'),
    row('e', 'storage', 'object.get'),
    row('f', 'workloads', 'workload.standing'),
    row('g', 'other', 'live.get'),
    row('h', 'other', 'ledger.list'),
    row('i', 'other', 'token.create'),
  ]
  assert.deepEqual(shown(rows), ['a: 2, 10', 'c', 'd', 'e', 'f', 'g: 2, 10', 'i'])
})

test('a row that is no charge is never a read', () => {
  const topup: Row = { ...row('a', 'other', 'usage.get'), kind: 'topup' }
  assert.deepEqual(shown([topup, topup]), ['a', 'a'])
  assert.deepEqual(shown([]), [])
})
