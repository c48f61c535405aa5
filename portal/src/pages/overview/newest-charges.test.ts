import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestCharges, type AskPage } from './newest-charges.ts'

type LedgerPage = Awaited<ReturnType<AskPage>>
type Entry = LedgerPage['data'][number]

const entry = (id: string, operation: string): Entry => ({
  id,
  at: '2026-11-25T00:00:00.000Z',
  kind: 'charge',
  amount_pusd: '-1',
  request_id: null,
  reference: null,
  service: operation === 'chat.create' ? 'inference' : 'usage',
  operation,
  resource: null,
  model: null,
  energy_nj: '5',
  method: null,
  band_pct: null,
  leaf_hash: null,
  token: null,
})
/** Pages of reads with one answer of a model in that of the number `at`. */
const pagesWith =
  (at: number, asked: (string | undefined)[]): AskPage =>
  (cursor) => {
    asked.push(cursor)
    const nth = Number(cursor ?? 0)
    const data = [entry(`r${nth}`, 'usage.get'), entry(`w${nth}`, 'chat.create')]
    return Promise.resolve({ data: data.slice(0, nth === at ? 2 : 1), next_cursor: `${nth + 1}` })
  }

test('newestCharges() reads on behind the price of looking, until there is work', async () => {
  const asked: (string | undefined)[] = []
  const rows = await newestCharges(pagesWith(2, asked), 1)
  assert.deepEqual(asked, [undefined, '1', '2'])
  assert.equal(rows.at(-1)?.id, 'w2')
})

test('newestCharges() reads one page where it has the work, and never all of an account that looks', async () => {
  const first: (string | undefined)[] = []
  await newestCharges(pagesWith(0, first), 1)
  assert.equal(first.length, 1)
  const all: (string | undefined)[] = []
  await newestCharges(pagesWith(1000, all), 1)
  assert.equal(all.length, 6)
})
