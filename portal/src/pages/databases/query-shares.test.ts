import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyWords, shareRows, type QueryList } from './query-shares.ts'

const query = (text: string, joules: number) => ({
  query: text,
  calls: 2,
  rows: 1,
  execution_ms: 1,
  energy_j: joules,
})
const list = (data: QueryList['data']): QueryList => ({
  object: 'database.queries',
  basis: 'the time of each at one processor, at most the energy of the server; not billed by query',
  from: '2026-11-25T14:00:00.000Z',
  to: '2026-11-25T14:05:00.000Z',
  energy_j: 0.415,
  other_j: 0.02,
  rest_j: 0.38,
  data,
})

test('shareRows() of a server name its rest and its charge, beside the queries', () => {
  const rows = shareRows(list([query('select 1', 0.015)]))
  assert.deepEqual(
    rows.map(({ name, nj }) => [name, nj]),
    [
      ['select 1', 15_000_000n],
      ['other statements, Ergon’s own among them', 20_000_000n],
      ['the server at rest between queries', 380_000_000n],
      ['together, as the server was charged', 415_000_000n],
    ],
  )
  assert.deepEqual(
    rows.map(({ calls }) => calls),
    [2, undefined, undefined, undefined],
  )
})

test('shareRows() of many queries are eight, and the others together', () => {
  const rows = shareRows(
    list(Array.from({ length: 10 }, (_, nth) => query(`select ${nth}`, 0.001))),
  )
  assert.equal(rows.filter(({ isQuery }) => isQuery).length, 8)
  assert.equal(rows[8]?.nj, 22_000_000n)
})

test('emptyWords() below an answered query say when the list is read, and not that none has run', () => {
  const nothing = { ...list([]), to: null, energy_j: 0 }
  for (const empty of [nothing, list([])]) {
    const words = emptyWords(empty) ?? ''
    assert.match(words, /read 3 s after the server starts, and then every 30 s/)
    assert.doesNotMatch(words, /No query has run/)
  }
  const ran = list([query('select 1', 0)])
  assert.match(emptyWords({ ...ran, energy_j: 0 }) ?? '', /^The first minute .* is charged/)
  assert.equal(emptyWords(ran), undefined)
})
