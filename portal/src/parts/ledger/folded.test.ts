// The price of looking in a short list of charges.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folded, isFolded, readsWords } from './folded.ts'
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
const shown = (rows: readonly Row[], most = 7) =>
  folded(rows, most).map((one) => (isFolded(one) ? `${one.id}: ${one.count}, ${one.nj}` : one.id))

test('folded() has the reads of a walk through pages in one line at the end, after all work', () => {
  const rows = [
    row('a', 'usage', 'usage.get'),
    row('b', 'databases', 'database.list'),
    row('c', 'inference', 'chat.create'),
    row('d', 'workloads', 'workload.logs'),
    row('e', 'storage', 'storage.get-object'),
    row('f', 'workloads', 'workload.standing'),
    row('g', 'databases', 'database-query.ceiling'),
    row('h', 'inference', 'chat.ceiling'),
    row('i', 'storage', 'storage.list-objects-v2'),
    row('j', 'storage', 'storage.buckets'),
    row('k', 'webhooks', 'webhook.log'),
    row('l', 'tokens', 'token.create'),
    row('m', 'inference', 'model.list'),
  ]
  assert.deepEqual(shown(rows), ['c', 'e', 'f', 'l', 'a: 9, 45'])
})

test('folded() keeps a place for the reads in a full list, and gives the place to work without them', () => {
  const work = ['a', 'b', 'c'].map((id) => row(id, 'inference', 'chat.create'))
  assert.deepEqual(shown([row('r', 'usage', 'usage.get'), ...work], 3), ['a', 'b', 'r: 1, 5'])
  assert.deepEqual(shown(work, 3), ['a', 'b', 'c'])
})

test('folded() tells the time of the oldest read that it counts', () => {
  const at = (minute: string) => ({
    ...row(minute, 'usage', 'usage.get'),
    at: `2026-11-25T00:${minute}:00.000Z`,
  })
  const [reads] = folded([at('30'), at('20'), at('10')], 7)
  assert.ok(reads !== undefined && isFolded(reads))
  assert.equal(reads.since, '2026-11-25T00:10:00.000Z')
})

test('folded() never takes a row that is no charge for a read', () => {
  const topup: Row = { ...row('a', 'usage', 'usage.get'), kind: 'topup' }
  assert.deepEqual(shown([topup, topup]), ['a', 'a'])
  assert.deepEqual(shown([]), [])
})

test('readsWords() says "at least" where charges came that nobody named', () => {
  assert.equal(readsWords(1, false), '1 read')
  assert.equal(readsWords(12, false), '12 reads')
  assert.equal(readsWords(12, true), 'At least 12 reads')
})
