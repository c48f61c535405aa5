// Budgets of the API in words: joules in three digits, never as the float that the API has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgetUse, budgetWords } from './budget-words.ts'

const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ')
const of = (energy_budget: string | null, energy_budget_used_j: number | null) => ({
  energy_budget,
  energy_budget_used_j,
})

test('budgetUse() has three digits of the joules that were used', () => {
  assert.equal(plain(budgetUse(of('5 kJ/day', 0.358035898))), '358 mJ of 5 kJ')
  assert.equal(plain(budgetUse(of('5 kJ/day', 1234.5678901))), '1.23 kJ of 5 kJ')
  assert.equal(plain(budgetUse(of('500 J/day', null))), '0 J of 500 J')
  assert.equal(budgetUse(of(null, null)), undefined)
})

test('budgetWords() has the share of a budget that was used', () => {
  assert.deepEqual(budgetWords(of('5 kJ/day', 2500), 'it').map(plain), [
    '50 %',
    'of 5 kJ/day; stops at 100 %',
  ])
  assert.deepEqual(budgetWords(of(null, null), 'it'), ['none', 'nothing stops it but the balance'])
})
