// The minutes before a page was opened, as points of its chart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runsOf } from '#console/parts/charts/runs.ts'
import { minutePoints } from './minute-points.ts'

const row = {
  at: '2026-11-25T09:40:00.000Z',
  group: 'inference',
  requests: 1,
  energy_j: 6,
  carbon_mg: 0,
  energy_nj: '6000000000',
  carbon_pg: '0',
  measured_nj: '0',
  charge_pusd: '0',
}

test('minutePoints() has the mean power of 15 minutes, zero where nothing was used', () => {
  const toMs = Date.parse('2026-11-25T09:41:00Z')
  const points = minutePoints([row], toMs)
  assert.equal(points.length, 15)
  assert.deepEqual(points.at(-1), { atMs: toMs - 30_000, by: { inference: 100_000_000n } })
  assert.deepEqual(points[0]?.by, {})
})

test('minutePoints() reaches the moment: its last minute has the power of the part that has passed', () => {
  const toMs = Date.parse('2026-11-25T09:41:40Z')
  const points = minutePoints([{ ...row, at: '2026-11-25T09:41:00.000Z' }], toMs)
  assert.equal(points.length, 16)
  assert.deepEqual(points.at(-1), { atMs: toMs - 20_000, by: { inference: 150_000_000n } })
})

test('runsOf() parts points where a minute is missing', () => {
  const at = (seconds: number) => ({ atMs: seconds * 1000, by: {} })
  const runs = runsOf([at(0), at(60), at(61), at(200), at(201)])
  assert.deepEqual(
    runs.map((run) => run.map(({ atMs }) => atMs / 1000)),
    [
      [0, 60, 61],
      [200, 201],
    ],
  )
  assert.deepEqual(runsOf([]), [])
})
