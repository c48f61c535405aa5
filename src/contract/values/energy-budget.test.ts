import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import { energyBudget, energyPerDay, printEnergyPerDay } from './energy-budget.ts'

test('a budget is an energy with its unit for a day', () => {
  const J = 10n ** 9n
  const texts: Readonly<Record<string, bigint>> = {
    '5 kJ/day': 5000n * J,
    '5kJ/day': 5000n * J,
    '10 J/day': 10n * J,
    '0.5 MJ/day': 500_000n * J,
    '1 Wh/day': 3600n * J,
    '1.000001 kWh/day': 3_600_003_600_000_000n,
  }
  for (const [text, energy] of Object.entries(texts)) assert.equal(energyPerDay(text), energy, text)
})

test('other texts are none, nor is an energy out of range', () => {
  const none = ['', '5', '5 kJ', '5 kJ/hour', '5 KJ/day', '-5 kJ/day', '5  kJ/day', '1e3 J/day']
  for (const text of [...none, '9.999999 J/day', '0 kJ/day', '999999999 kWh/day', '.5 kJ/day'])
    assert.equal(energyPerDay(text), undefined, text)
})

test('a printed budget reads back', () => {
  const micro = fc.bigInt(10_000_000n, 10n ** 15n)
  fc.assert(
    fc.property(micro, (energy) => {
      const perDay = nj(energy * 10n ** 6n)
      assert.equal(energyPerDay(printEnergyPerDay(perDay)), perDay)
    }),
  )
  assert.equal(printEnergyPerDay(nj(5n * 10n ** 12n)), '5 kJ/day')
})

test('the bounds that a refusal names are budgets', () => {
  const refusal = energyBudget.safeParse('1 GJ/day').error?.message ?? ''
  const [, least = '', most = ''] = /from (.*) to (.*), such/.exec(refusal) ?? []
  for (const bound of [least, most]) assert.ok(energyPerDay(bound), bound)
})
