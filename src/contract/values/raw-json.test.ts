import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj, printJoules } from '#base/units.ts'
import { rawNumber } from './raw-json.ts'

test('rawNumber() prints the very text of the printer, whatever a double would do', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 27n }), (value) => {
      const text = printJoules(nj(value))
      assert.equal(JSON.stringify({ energy_j: rawNumber(text) }), `{"energy_j":${text}}`)
    }),
  )
})

test('rawNumber() is needed: a double changes the figure', () => {
  const text = printJoules(nj(9_007_199_254_740_993_123n))
  assert.notEqual(JSON.stringify(Number(text)), text)
  assert.equal(JSON.stringify(rawNumber(text)), text)
})

test('rawNumber() refuses what is no plain decimal', () => {
  for (const text of ['', '01', '1e5', '1.', '.5', 'NaN', '1,"x":2', '"1"'])
    assert.throws(() => rawNumber(text), { name: 'RangeError' })
})
