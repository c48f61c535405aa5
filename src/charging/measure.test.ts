import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { InvariantError } from '#base/errors.ts'
import { energyOfCpu, nj } from '#base/units.ts'
import { energyOf } from './compose-charge.ts'
import { NO_RATES } from '#contract/ledger/indirect-rates.ts'
import { Measure } from './measure.ts'
import type { Tariff } from './tariff.ts'

const EXTRA = {
  tailNs: 0n,
  indirect: { cpuNs: 0n, bandPct: 40, shareNs: 0, ownNs: 0, rateNs: 0n },
}
const TARIFF: Tariff = {
  meter: 'm1',
  method: 'model',
  bandPct: '30',
  njPerCpuS: 3_500_000_000n,
  pueMilli: '1000',
  routedTo: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
  indirect: NO_RATES,
}
const S = 1_000_000_000n
const amount = fc.bigInt(0n, 10n ** 15n)

test('parts are min(measured, limit), the node first, then upstreams by name', () => {
  fc.assert(
    fc.property(amount, fc.array(amount, { maxLength: 4 }), amount, (cpuNs, upstreams, limit) => {
      const measure = new Measure()
      measure.claim({ kind: 'cpu', cell: 'c', cpuNs })
      for (const [index, energy] of upstreams.toReversed().entries())
        measure.claim({
          kind: 'upstream',
          meter: `upstream:${9 - index}`,
          method: 'declared',
          bandPct: 50,
          energyNj: nj(energy),
        })
      const parts = measure.parts(TARIFF, EXTRA, nj(limit))
      const measured = measure.energy(TARIFF)
      assert.equal(energyOf(parts), measured < limit ? measured : limit)
      const meters = parts.map((part) => part.meter)
      assert.deepEqual(meters, ['m1', ...meters.slice(1).toSorted()])
      // Nothing later has a share while something earlier lacks one.
      const short = parts.findIndex(
        (part) => BigInt(part.energy_nj) < measuredOf(measure, part.meter),
      )
      if (short !== -1) for (const part of parts.slice(short + 1)) assert.equal(part.energy_nj, '0')
    }),
  )
})

const measuredOf = (measure: Measure, meter: string) =>
  BigInt(
    measure.parts(TARIFF, EXTRA, nj(1n << 100n)).find((part) => part.meter === meter)?.energy_nj ??
      0,
  )

const GPU = {
  meter: 'm1:gpu',
  method: 'nvml',
  bandPct: 7,
  njPerGpuS: 120_000_000_000n,
  models: new Map(),
} as const

test('the GPU has a part of its own, behind the node, and no part where it has no meter', () => {
  const measure = new Measure()
  measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 2n * S })
  assert.equal(measure.parts({ ...TARIFF, gpu: GPU }, EXTRA, nj(1n << 100n)).length, 1)
  measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 2n * S, gpuNs: S / 4n }, GPU)
  measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 2n * S, gpuNs: S / 2n }, GPU)
  const parts = measure.parts({ ...TARIFF, gpu: GPU }, EXTRA, nj(1n << 100n))
  assert.deepEqual(
    parts.map((part) => [part.meter, part.method, part.band_pct, part.energy_nj]),
    [
      ['m1', 'model', '30', String(7n * S)],
      ['m1:gpu', 'nvml', '7', String(60n * S)],
    ],
  )
  assert.equal(measure.energy({ ...TARIFF, gpu: GPU }), 67n * S)
  assert.equal(measure.claimedEnergy({ ...TARIFF, gpu: GPU }), 67n * S)
  const unmetered = new Measure()
  unmetered.claim({ kind: 'cpu', cell: 'a', cpuNs: 2n * S, gpuNs: S / 2n })
  assert.equal(unmetered.energy(TARIFF), 7n * S)
  assert.equal(unmetered.parts(TARIFF, EXTRA, nj(1n << 100n)).length, 1)
  assert.throws(
    () => measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 2n * S, gpuNs: 1n }),
    InvariantError,
  )
})

test('parts with a GPU are min(measured, limit) too, and the bill of the GPU waits for no tail', () => {
  const tariff = { ...TARIFF, gpu: GPU }
  fc.assert(
    fc.property(amount, amount, amount, amount, (cpuNs, gpuNs, tailNs, limit) => {
      const measure = new Measure()
      measure.claim({ kind: 'cpu', cell: 'c', cpuNs, gpuNs }, GPU)
      const before = measure.parts(tariff, EXTRA, nj(limit))
      const parts = measure.parts(tariff, { ...EXTRA, tailNs }, nj(limit))
      assert.equal(energyOf(before), min(measure.energy(tariff), limit))
      assert.equal(parts[1]?.energy_nj, before[1]?.energy_nj)
      const tailNj = energyOfCpu(cpuNs + tailNs, tariff.njPerCpuS) - measure.nodeEnergy(tariff)
      assert.equal(energyOf(parts), min(measure.energy(tariff) + tailNj, limit))
    }),
  )
})

test('absorb() moves the GPU to the operator, to the nanojoule', () => {
  const tariff = { ...TARIFF, gpu: GPU }
  const measure = new Measure()
  measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 3n, gpuNs: 7n }, GPU)
  const before = measure.energy(tariff)
  measure.absorb(tariff)
  assert.equal(measure.energy(tariff), 0n)
  assert.deepEqual([...measure.absorbedGpu], [['a', { chargedNs: 7n, accruedNj: 840n }]])
  assert.equal(energyOf(measure.absorbedParts(tariff)), before)
})

test('time on the GPU costs what the tariff of its model is when it is claimed, with the widest band', () => {
  const rate = (joules: bigint, bandPct: number) =>
    ({ method: 'nvml', bandPct, njPerGpuS: joules * S }) as const
  const claim = (cell: string, gpuNs: bigint) => ({ kind: 'cpu', cell, cpuNs: 0n, gpuNs }) as const
  const measure = new Measure()
  measure.claim(claim('a', S), { ...GPU, models: new Map([['a', rate(10n, 4)]]) })
  measure.claim(claim('a', 3n * S), { ...GPU, models: new Map([['a', rate(30n, 90)]]) })
  measure.claim(claim('a', 3n * S), { ...GPU, models: new Map([['a', rate(500n, 99)]]) })
  // Model b has no tariff of its own.
  measure.claim(claim('b', S), { ...GPU, models: new Map([['a', rate(30n, 4)]]) })
  const tariff = { ...TARIFF, gpu: GPU }
  assert.equal(measure.energy(tariff), 190n * S)
  assert.deepEqual(measure.billedGpu(tariff, nj(100n * S)), [
    ['a', { chargedNs: 3n * S, accruedNj: 70n * S }],
    ['b', { chargedNs: S, accruedNj: 30n * S }],
  ])
  assert.deepEqual(measure.billedGpu(tariff, nj(150n * S))[1]?.[1].accruedNj, 80n * S)
  const [, part] = measure.parts(tariff, EXTRA, nj(1n << 100n))
  assert.deepEqual(part, {
    meter: 'm1:gpu',
    method: 'nvml',
    band_pct: '90',
    energy_nj: String(190n * S),
  })
})

const min = (a: bigint, b: bigint) => (a < b ? a : b)

test('claims of CPU are cumulative per cell and may not fall', () => {
  const measure = new Measure()
  measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 5n })
  measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 9n })
  measure.claim({ kind: 'cpu', cell: 'b', cpuNs: 1n })
  measure.cpuNs = 90
  assert.equal(measure.totalCpuNs(), 100n)
  assert.throws(() => measure.claim({ kind: 'cpu', cell: 'a', cpuNs: 8n }), InvariantError)
})

test('energy that an upstream declares takes the place of the counted one', () => {
  const measure = new Measure()
  const upstream = { kind: 'upstream', meter: 'upstream:a', method: 'model', bandPct: 100 } as const
  for (const energyNj of [nj(9n), nj(2n), nj(3n)]) {
    measure.claim({ ...upstream, energyNj })
    assert.equal(measure.energy(TARIFF), energyNj)
    assert.equal(energyOf(measure.parts(TARIFF, EXTRA, nj(100n))), energyNj)
  }
  assert.throws(() => measure.claim({ ...upstream, energyNj: nj(-1n) }), InvariantError)
})
