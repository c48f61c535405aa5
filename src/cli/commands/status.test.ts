import assert from 'node:assert/strict'
import { test } from 'node:test'
import { booksLine, chargedLine } from './status.ts'

test('booksLine() says when the books were checked, or why they are halted', () => {
  const sound = { checked_age_s: 12, halted_at: null, faults: [] }
  assert.equal(booksLine(sound), 'books    checked 12 s ago')
  assert.equal(booksLine({ ...sound, checked_age_s: null }), 'books    not checked yet')
  const faults = [
    { invariant: 'units_sum_to_zero', detail: 'USD: 4' },
    { invariant: 'leaves_are_gapless', detail: 'size 1' },
  ]
  assert.equal(
    booksLine({ checked_age_s: 7, halted_at: '2026-11-21T00:00:00.000Z', faults }),
    'books    halted since 2026-11-21T00:00:00.000Z: units_sum_to_zero (USD: 4); leaves_are_gapless (size 1); checked 7 s ago',
  )
})

test('chargedLine() has the sums of the ledger to the nanojoule', () => {
  const sum = (energy: string) => ({ charges: '1', energy_nj: energy })
  assert.equal(
    chargedLine({ day: sum('12000000001'), all: sum('4500000000000'), nobody: sum('0') }),
    'charged  12.000000001 J today, 4500 J in all, and 0 J to nobody',
  )
  assert.equal(chargedLine(null), 'charged  unknown: the sums take too long')
})
