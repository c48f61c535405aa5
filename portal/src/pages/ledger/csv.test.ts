// The CSV of the ledger is whole, or is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CSV_PAGES_MAX, readCsv, type CsvQuery } from './csv.ts'

const pagesOf = (count: number) => {
  const asked: CsvQuery[] = []
  const pageOf = async (query: CsvQuery) => {
    const nth = asked.push(query)
    return { text: `head\nrow ${nth}\n`, next: nth < count ? `c${nth}` : null }
  }
  return { asked, pageOf }
}

test('readCsv() joins the pages of one moment under one head', async () => {
  const { asked, pageOf } = pagesOf(2)
  const query = { from: '2026-11-27T00:00:00Z' }
  assert.equal(await readCsv(query, pageOf), 'head\nrow 1\nrow 2\n')
  assert.deepEqual(asked, [
    { ...query, limit: '1000' },
    { ...query, limit: '1000', cursor: 'c1' },
  ])
})

test('readCsv() gives no part of a ledger that is too long', async () => {
  assert.equal((await readCsv({}, pagesOf(CSV_PAGES_MAX).pageOf))?.split('\n').length, 202)
  const { asked, pageOf } = pagesOf(CSV_PAGES_MAX + 1)
  assert.equal(await readCsv({}, pageOf), undefined)
  assert.equal(asked.length, CSV_PAGES_MAX)
})
