import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { energyFor, nj, priceOf, pusd } from './units.ts'

const amount = fc.bigInt({ min: 0n, max: 10n ** 18n })

test('energyFor() is worth the whole amount, so that a balance can reach zero', () => {
  fc.assert(
    fc.property(amount, fc.bigInt({ min: 1n, max: 10n ** 9n }), (money, price) => {
      assert.equal(priceOf(energyFor(pusd(money), price), price), money)
    }),
  )
})

test('energyFor() is never worth more than the amount, and one nanojoule more would be', () => {
  fc.assert(
    fc.property(amount, fc.bigInt({ min: 1n, max: 10n ** 15n }), (money, price) => {
      const energy = energyFor(pusd(money), price)
      assert.ok(priceOf(energy, price) <= money)
      assert.ok(priceOf(nj(energy + 1n), price) > money)
    }),
  )
})
