// The payers of holds while a budget is changed again and again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { nj } from '#base/units.ts'
import type { Cells } from '#cells/cell.ts'
import { CellHold } from '#charging/cell-hold.ts'
import { openTestCharging, PUSD_PER_J } from '#charging/charging.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { keepPayers } from './cell-payers.ts'

const J = 1_000_000_000n
const CELL = 'db-1'
/** More than any hold of the test has. */
const MUCH_NJ = nj(1000n * J)

test('a budget that changes in a loop is taken at a pace, and the hold limits all the time', async () => {
  await using bench = await openTestCharging()
  const owner = bench.payer('acct_1', 9n * PUSD_PER_J)
  const hold = await CellHold.take(bench.charging, owner, nj(J))
  const ending = new AbortController()
  let [nowMs, changes, taken] = [0, 0, 0]
  let changed: () => void = () => undefined
  const working = keepPayers(
    {
      cells: { list: () => [{ spec: { name: CELL } }] } as unknown as Pick<Cells, 'list'>,
      holds: new Map([[CELL, hold]]),
      payerOf: async () => ({ ...owner, njPerDay: String(++changes) }),
      async tick() {
        assert.equal(hold.covers(MUCH_NJ), false)
        await bench.session.tickNow(AbortSignal.timeout(60_000))
      },
      settle: () => void taken++,
      onChange: (act) => (changed = act),
      clock: { monotonicMs: () => nowMs },
      log: quiet,
    },
    ending.signal,
  )
  try {
    for (const expected of [1, 2]) {
      for (let round = 0; round < 50; round++) {
        changed()
        assert.equal(hold.covers(MUCH_NJ), false)
        await pause(2)
      }
      assert.equal(taken, expected)
      nowMs += 2000
    }
    assert.equal(hold.covers(nj(J)), true)
  } finally {
    ending.abort()
    await working
  }
})
