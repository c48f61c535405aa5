import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgetState } from './budget-state.ts'

const J = 1_000_000_000n
const MOST = 10n * J
const wordOf = (
  used: bigint,
  state: 'within' | 'warning' | 'exceeded' = 'within',
  now: Partial<Parameters<typeof budgetState>[1]> = {},
) =>
  budgetState(
    { state, used_nj: String(J), budget_nj: String(MOST) },
    { used, most: MOST, isSuspended: false, ...now },
  ).word

test('a budget that is used up is never within, whatever the list said before', () => {
  assert.equal(wordOf(J), 'Within')
  assert.equal(wordOf(8n * J), 'Near its end')
  assert.equal(wordOf(MOST), 'Used up until 00:00 UTC')
  // 9.996 of 10 J reads as 10.0: no request is admitted with the rest.
  assert.equal(wordOf(9_996_000_000n), 'Used up until 00:00 UTC')
  assert.equal(wordOf(MOST, 'warning', { isSuspended: true }), 'Frozen until 00:00 UTC')
})

test('a budget that stopped something is used up before its last joule, until a new day or a larger budget', () => {
  assert.equal(wordOf(9n * J, 'exceeded'), 'Used up until 00:00 UTC')
  assert.equal(wordOf(0n, 'exceeded'), 'Within')
  assert.equal(wordOf(9n * J, 'exceeded', { most: 100n * J }), 'Within')
})
