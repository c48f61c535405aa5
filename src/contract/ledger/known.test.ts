import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChargePart, EnergyMethod } from './charge.ts'
import { bandOfParts, bandOfWeight, knownBy, knownOfSum, MEASURED_METHODS } from './known.ts'

const part = (method: EnergyMethod, energy: bigint, band: number): ChargePart => ({
  meter: 'node',
  method,
  band_pct: String(band),
  energy_nj: energy.toString(),
})

test('a method has a word, and an unknown method counts as modelled', () => {
  assert.deepEqual(MEASURED_METHODS.map(knownBy), ['measured', 'measured', 'measured', 'measured'])
  assert.deepEqual(['model', 'learned', 'declared'].map(knownBy), [
    'modelled',
    'modelled',
    'declared',
  ])
  assert.equal(knownBy('constructor'), 'modelled')
})

test('bandOfParts() weights bands by energy, rounded up', () => {
  const parts = [part('rapl', 12_479_999n, 5), part('model', 345_555_899n, 40)]
  assert.deepEqual(bandOfParts(parts), { method: 'model', bandPct: 39 })
  assert.deepEqual(bandOfParts(parts.slice(0, 1)), { method: 'rapl', bandPct: 5 })
  assert.deepEqual(bandOfParts([]), { method: 'model', bandPct: 0 })
})

test('bandOfParts() names a sensor only where a sensor read all energy', () => {
  const learned = [part('plug', 970n, 2), part('learned', 30n, 42)]
  assert.deepEqual(bandOfParts(learned), { method: 'learned', bandPct: 4 })
  const nothing = [part('plug', 970n, 2), part('learned', 0n, 42)]
  assert.deepEqual(bandOfParts(nothing), { method: 'plug', bandPct: 2 })
  const two = [part('nvml', 970n, 2), part('rapl', 30n, 5)]
  assert.equal(bandOfParts(two).method, 'nvml')
  const far = [part('plug', 900n, 2), part('learned', 30n, 42), part('declared', 70n, 10)]
  assert.equal(bandOfParts(far).method, 'declared')
})

test('a sum of charges has the word and the band of a charge with the same parts', () => {
  const sums = (parts: readonly ChargePart[]) => {
    const nj = (some: readonly ChargePart[]) =>
      some.reduce((sum, { energy_nj }) => sum + BigInt(energy_nj), 0n)
    const measuredNj = nj(parts.filter(({ method }) => knownBy(method) === 'measured'))
    const weight = parts.reduce(
      (sum, { energy_nj, band_pct }) => sum + BigInt(energy_nj) * BigInt(band_pct),
      0n,
    )
    return [knownOfSum({ nj: nj(parts), measuredNj }), bandOfWeight(nj(parts), weight)]
  }
  const [plug, model, learned] = [
    part('plug', 970n, 2),
    part('model', 9n, 40),
    part('learned', 30n, 42),
  ]
  for (const parts of [[plug], [plug, learned], [model], [plug, model, learned], []]) {
    const { method, bandPct } = bandOfParts(parts)
    assert.deepEqual(sums(parts), [knownBy(method), bandPct])
  }
})
