// Minutes of a database become spans of the day.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { awakeSpans, lengthOf } from './database.ts'

const MINUTE_MS = 60_000
const minute = (at: string, server_j: number) => ({
  at: `2026-11-26T${at}:00Z`,
  server_j,
  energy_j: server_j,
  carbon_mg: 0,
  energy_nj: '0',
  charge_pusd: '0',
})

suite('awakeSpans()', () => {
  test('joins adjoining minutes and parts others', () => {
    const spans = awakeSpans({
      from: '2026-11-26T00:00:00Z',
      data: [minute('00:01', 2), minute('00:02', 1), minute('06:00', 1)],
    })
    assert.deepEqual(spans, [
      { fromMs: MINUTE_MS, toMs: 3 * MINUTE_MS },
      { fromMs: 360 * MINUTE_MS, toMs: 361 * MINUTE_MS },
    ])
    assert.equal(lengthOf(spans), 3 * MINUTE_MS)
  })

  test('leaves out minutes in which only stored bytes were charged', () => {
    const data = [minute('00:01', 0), minute('00:02', 1)]
    assert.equal(lengthOf(awakeSpans({ from: '2026-11-26T00:00:00Z', data })), MINUTE_MS)
  })
})
