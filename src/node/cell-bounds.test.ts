import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { createCellBounds } from './cell-bounds.ts'
import type { CheckedCells } from './cell-guard.ts'

/** A cell whose budget has so many thousandths of the machine, on two processors. */
function boundOf(
  permille: number,
  limitCpu: (cause: string, milli: number | undefined) => void,
  isKilled = false,
) {
  let nowMs = 0
  const lines: string[] = []
  const log = createLogger('test', { write: (line) => void lines.push(line) })
  const bound = createCellBounds({ clock: { monotonicMs: () => nowMs }, log })
  const held = {
    cell: { spec: { name: 'wl-a-1' }, limitCpu },
    hold: { payer: { account: 'acct_1', budgets: ['wl_a'] }, unpaid: undefined },
    ahead: { cpus: 2 },
  }
  const checked = [{ held, restMs: 1, ownMs: 1000, isKilled }]
  const round = { checked, reachMs: new Map([['wl_a', permille]]) } as unknown as CheckedCells
  return {
    lines,
    at(ms: number) {
      nowMs = ms
      bound([round])
    },
  }
}

test('a bound is never more than the machine, and longer after the ledger could grant more', () => {
  const limits: (number | undefined)[] = []
  const { at } = boundOf(200, (_, milli) => void limits.push(milli))
  at(0)
  at(400)
  assert.deepEqual(limits, [undefined, 400])
})

test('a cell that cannot be slowed is told once, and ends no guard', () => {
  const { at, lines } = boundOf(100, () => {
    throw new Error('EINVAL: invalid argument, write')
  })
  at(400)
  at(500)
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /A cell could not be slowed.*wl-a-1.*EINVAL/)
})

test('a cell that was killed ends without a bound', () => {
  boundOf(100, () => assert.fail('it is bound'), true).at(400)
})
