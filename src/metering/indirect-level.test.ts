import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLevel } from './indirect-level.ts'

const PREDICTED_MS = 80

/** Bills what the credit allows, in windows that have spent what they say; returns the billed part of the prediction. */
function billedPct(windows: readonly number[]): number {
  const level = createLevel(1)
  let sumMs = 0
  for (const spent of windows) {
    const billed = Math.max(0, Math.min(PREDICTED_MS * level.value, level.creditMs))
    sumMs += billed
    level.follow({ spent, predicted: PREDICTED_MS, billed })
  }
  return (100 * sumMs) / (PREDICTED_MS * windows.length)
}

test('claims of direct CPU that come a window late take nothing off the bills, and add nothing', () => {
  const late = fc.sample(fc.nat({ max: 300 }), { numRuns: 600, seed: 4 })
  const windows = late.map((lateMs, nth) => PREDICTED_MS + lateMs - (late[nth - 1] ?? 0))
  const share = billedPct(windows)
  assert.ok(share > 80 && share <= 100, `${share.toFixed(1)} %`)
})

test('CPU that was spent on something else is billed to nobody, also not later', () => {
  const windows = Array.from({ length: 600 }, (_, nth) =>
    nth % 20 === 10 ? 1000 : PREDICTED_MS + (nth % 2 === 0 ? 8 : -8),
  )
  // A window is cut at twice its prediction, and the level makes up for some of what is missing in the next ones.
  const share = billedPct(windows)
  assert.ok(share < 106, `${share.toFixed(1)} %`)
})
