// Bills by cell: each cell has a total of its own that never falls, however many cells there are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import { addByCell, NOTHING_BILLED, type Billed } from './true-up.ts'

type OfCell = readonly [cell: string, billed: Billed]
const CELLS = 600

const billOf = (ns: number): Billed => ({ chargedNs: BigInt(ns), accruedNj: nj(BigInt(3 * ns)) })
const merged = (...lists: readonly (readonly OfCell[])[]): Map<string, Billed> => {
  const totals = new Map<string, Billed>()
  for (const list of lists) addByCell(totals, list)
  return totals
}

// With room for 256 names the running work that was read first had the places, and the rest had one total without a name.
test('the total of a cell does not depend on the order in which work settles, and never falls', () => {
  const work = fc.array(fc.tuple(fc.nat({ max: CELLS - 1 }), fc.nat({ max: 9 })), {
    minLength: CELLS,
    maxLength: 2 * CELLS,
    size: 'max',
  })
  fc.assert(
    fc.property(work, fc.integer({ min: 1, max: 7 }), (spends, step) => {
      const bills = spends.map(([cell, ns]): OfCell => [`model-${cell}`, billOf(ns)])
      const all = merged(bills)
      let before = new Map<string, Billed>()
      for (let settled = 0; settled <= bills.length; settled += 50 * step) {
        // Each spend settles in its turn; those that run are read from the last to the first.
        const totals = merged(bills.slice(0, settled), bills.slice(settled).toReversed())
        for (const [cell, { chargedNs, accruedNj }] of before) {
          const now = totals.get(cell) ?? NOTHING_BILLED
          assert.ok(now.chargedNs >= chargedNs && now.accruedNj >= accruedNj, cell)
        }
        assert.deepEqual(sorted(totals), sorted(all))
        before = totals
      }
    }),
    { numRuns: 30, endOnFailure: true },
  )
})

test('bills of nothing take no place', () => {
  const processors = Array.from({ length: CELLS }, (_, nth): OfCell => [
    `cpu-${nth}`,
    NOTHING_BILLED,
  ])
  const totals = merged(processors, [['model-a', billOf(1)]])
  assert.deepEqual([...totals], [['model-a', billOf(1)]])
})

const sorted = (totals: ReadonlyMap<string, Billed>): OfCell[] =>
  [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1))
