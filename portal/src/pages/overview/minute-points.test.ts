// The minutes before a page was opened, as points of its chart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutePoints } from './minute-points.ts'

test('minutePoints() has the mean power of 15 minutes, zero where nothing was used', () => {
  const toMs = Date.parse('2026-11-25T09:41:00Z')
  const row = {
    at: '2026-11-25T09:40:00.000Z',
    group: 'inference',
    requests: 1,
    energy_j: 6,
    carbon_mg: 0,
    energy_nj: '6000000000',
    measured_nj: '0',
    charge_pusd: '0',
  }
  const points = minutePoints([row], toMs)
  assert.equal(points.length, 15)
  assert.deepEqual(points.at(-1), { atMs: toMs - 30_000, by: { inference: 100_000_000n } })
  assert.deepEqual(points[0]?.by, {})
})
