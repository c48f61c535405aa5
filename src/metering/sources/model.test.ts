import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { coefficientsOf } from './cpu-coefficients.ts'
import { parseCpuInfo, type CpuInfo } from './cpu-info.ts'
import { createCpuModel, modelOfCpu } from './model.ts'

const S = 1_000_000_000n
const cpu = (more: Partial<CpuInfo>): CpuInfo => ({
  vendor: 'GenuineIntel',
  family: 6,
  model: 85,
  stepping: 7,
  name: '',
  cpus: 2,
  ...more,
})
const amd = { vendor: 'AuthenticAMD', family: 25, model: 1, stepping: 1 }

test('coefficientsOf() knows a processor by family, model and stepping, as clouds rename it', () => {
  const names = [
    cpu({}),
    cpu({ stepping: 4 }),
    cpu({ stepping: 11 }),
    cpu({ model: 79 }),
    cpu({ model: 63 }),
    cpu({ model: 158, stepping: 12 }),
    cpu({ model: 143 }),
    cpu({ ...amd }),
    cpu({ ...amd, model: 17 }),
    cpu({ ...amd, family: 23, model: 49 }),
    cpu({ ...amd, family: 23, model: 1 }),
    cpu({ vendor: '', family: 0, model: 0 }),
  ].map((info) => coefficientsOf(info).microarchitecture)
  assert.deepEqual(names, [
    'Cascade Lake',
    'Skylake',
    'unknown',
    'Broadwell',
    'Haswell',
    'Coffee Lake',
    'unknown',
    'EPYC 3 (Milan)',
    'unknown',
    'EPYC 2 (Rome)',
    'EPYC 1 (Naples)',
    'unknown',
  ])
})

test('parseCpuInfo() reads a cloud’s renamed EPYC and an ARM without names', () => {
  const processor = (index: number) =>
    [
      `processor\t: ${index}`,
      'vendor_id\t: AuthenticAMD',
      'cpu family\t: 25',
      'model\t\t: 1',
      'model name\t: AMD EPYC',
      'stepping\t: 1',
    ].join('\n')
  assert.deepEqual(parseCpuInfo(`${processor(0)}\n\n${processor(1)}\n`), {
    ...amd,
    name: 'AMD EPYC',
    cpus: 2,
  })
  const arm = parseCpuInfo('processor\t: 0\nBogoMIPS\t: 243.75\n\nprocessor\t: 1\n')
  assert.deepEqual([arm.vendor, arm.name, arm.cpus], ['', '', 2])
})

test('the model of this machine has a declared band', () => {
  const model = modelOfCpu(parseCpuInfo(readFileSync('/proc/cpuinfo', 'utf8')))
  assert.equal(model.bandPct, 40)
  assert.ok(model.cpus >= 1 && model.njPerCpuS > S / 10n && model.njPerCpuS < 10n * S)
})

test('the model of two points is idle plus the slope times busy, to the nanojoule', () => {
  const model = modelOfCpu(cpu({ ...amd, cpus: 2 }))
  assert.equal(model.idleMilliwatts, 900n)
  assert.equal(model.njPerCpuS, 1_570_000_000n)
  assert.equal(model.energy({ elapsedNs: S, busyNs: 0n }), 900_000_000n)
  assert.equal(model.energy({ elapsedNs: S, busyNs: S }), 2_470_000_000n)
  assert.equal(model.energy({ elapsedNs: S, busyNs: 2n * S }), 4_040_000_000n)
  assert.equal(model.energy({ elapsedNs: S, busyNs: 9n * S }), 4_040_000_000n)
  assert.equal(model.energy({ elapsedNs: 0n, busyNs: 0n }), 0n)
})

test('a curve passes through its points, rises, and never leaves its idle and maximum', () => {
  const curve = [
    { permille: 0, milliwatts: 20_000n },
    { permille: 250, milliwatts: 50_000n },
    { permille: 500, milliwatts: 62_000n },
    { permille: 1000, milliwatts: 80_000n },
  ]
  const model = createCpuModel({ basis: 'test', cpus: 4, curve, bandPct: 6 })
  for (const { permille, milliwatts } of curve)
    assert.equal(
      model.energy({ elapsedNs: S, busyNs: (4n * S * BigInt(permille)) / 1000n }),
      milliwatts * 1_000_000n,
    )
  const busy = fc.bigInt(0n, 5n * S)
  fc.assert(
    fc.property(busy, busy, (a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a]
      const less = model.energy({ elapsedNs: S, busyNs: low })
      const more = model.energy({ elapsedNs: S, busyNs: high })
      assert.ok(20n * S <= less && less <= more && more <= 80n * S)
    }),
  )
})

test('createCpuModel() refuses a curve that falls or does not span the whole load', () => {
  const refuse = (...points: [number, bigint][]) => {
    const curve = points.map(([permille, milliwatts]) => ({ permille, milliwatts }))
    assert.throws(
      () => createCpuModel({ basis: 'test', cpus: 1, curve, bandPct: 1 }),
      /curve|points/,
    )
  }
  refuse()
  refuse([0, 5n])
  refuse([0, 5n], [900, 6n])
  refuse([0, 5n], [1000, 4n])
  refuse([0, 5n], [500, 6n], [500, 7n], [1000, 8n])
})
