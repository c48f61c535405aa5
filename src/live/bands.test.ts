import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addBands, bandOf, bandsOfRows } from './bands.ts'

const model = bandsOfRows([{ method: 'model', energy: '100', weighted: '4000' }])
const rapl = bandsOfRows([
  { method: 'rapl', energy: '200', weighted: '1000' },
  { method: 'model', energy: '1', weighted: '150' },
])

test('sums of methods add up to the band of all, weighted by energy and rounded up', () => {
  const all = addBands(model, rapl)
  assert.deepEqual(bandOf(all, 301n), { method: 'rapl', bandPct: 18 })
  assert.deepEqual(bandOf(addBands(rapl, model), 301n), bandOf(all, 301n))
  assert.deepEqual(bandOf(new Map(), 0n), { method: 'model', bandPct: 0 })
})

test('sums that are not of all energy say nothing of it', () => {
  assert.equal(bandOf(model, 101n), undefined)
})
