import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createGauge } from './gauge.ts'
import { createRapl } from './rapl.ts'
import type { Reading, Unavailable } from './source.ts'

const RANGE_UJ = 262_143_328_850n
const NOBODY = 65_534
const S = 1_000_000_000n
const signal = new AbortController().signal

type Zone = { name: string; energyUj: bigint; maxPowerUw?: bigint }

/** A fixture of /sys/class/powercap as the kernel lays it out. */
function createSysfs(t: TestContext, zones: Record<string, Zone>) {
  const root = mkdtempSync(join(tmpdir(), 'ergon-rapl-'))
  chmodSync(root, 0o755)
  const folderOf = (zone: string) => join(root, 'class/powercap', zone)
  const file = (zone: string, name: string) => join(folderOf(zone), name)
  for (const [zone, { name, energyUj, maxPowerUw }] of Object.entries(zones)) {
    mkdirSync(folderOf(zone), { recursive: true })
    writeFileSync(file(zone, 'name'), `${name}\n`)
    writeFileSync(file(zone, 'max_energy_range_uj'), `${RANGE_UJ}\n`)
    writeFileSync(file(zone, 'energy_uj'), `${energyUj}\n`)
    if (maxPowerUw !== undefined)
      writeFileSync(file(zone, 'constraint_0_max_power_uw'), `${maxPowerUw}\n`)
  }
  let nowMs = 1000
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const rapl = createRapl({ sysfsRoot: root, clock })
  t.after(async () => {
    await rapl.close()
    rmSync(root, { recursive: true, force: true })
  })
  return {
    rapl,
    file,
    gauge: createGauge(rapl),
    pass: (ms: number) => (nowMs += ms),
    count: (zone: string, energyUj: bigint) =>
      writeFileSync(file(zone, 'energy_uj'), `${energyUj}\n`),
  }
}

const joulesOf = (reading: Reading | Unavailable): number => {
  assert.equal(reading.kind, 'counter')
  return reading.kind === 'counter' ? Number(reading.totalNj) / 1e9 : Number.NaN
}
const second = { elapsedNs: S, busyNs: S }

test('RAPL adds up the packages, and neither psys nor parts nor the same package by mmio', async (t) => {
  const { rapl, count } = createSysfs(t, {
    'intel-rapl:0': { name: 'package-0', energyUj: 1_000_000n },
    'intel-rapl:0:0': { name: 'core', energyUj: 1_000_000n },
    'intel-rapl:0:1': { name: 'dram', energyUj: 1_000_000n },
    'intel-rapl:1': { name: 'package-1', energyUj: 5_000_000n },
    'intel-rapl:2': { name: 'psys', energyUj: 1_000_000n },
    'intel-rapl-mmio:0': { name: 'package-0', energyUj: 1_000_000n },
  })
  assert.equal(joulesOf(await rapl.read(signal)), 0)
  count('intel-rapl:0', 31_000_000n)
  count('intel-rapl:0:0', 21_000_000n)
  count('intel-rapl:0:1', 9_000_000n)
  count('intel-rapl:1', 25_000_000n)
  count('intel-rapl:2', 91_000_000n)
  count('intel-rapl-mmio:0', 31_000_000n)
  assert.equal(joulesOf(await rapl.read(signal)), 50)
})

test('RAPL uses mmio where it is all there is', async (t) => {
  const { rapl, count } = createSysfs(t, {
    'intel-rapl-mmio:0': { name: 'package-0', energyUj: 0n },
  })
  await rapl.read(signal)
  count('intel-rapl-mmio:0', 4_000_000n)
  assert.equal(joulesOf(await rapl.read(signal)), 4)
})

test('RAPL counts on over the wrap of its counter', async (t) => {
  const { rapl, count } = createSysfs(t, {
    'intel-rapl:0': { name: 'package-0', energyUj: RANGE_UJ - 10_000_000n },
  })
  await rapl.read(signal)
  count('intel-rapl:0', 20_000_000n)
  assert.equal(joulesOf(await rapl.read(signal)), 30)
  count('intel-rapl:0', 21_000_000n)
  assert.equal(joulesOf(await rapl.read(signal)), 31)
})

test('RAPL that is forbidden is unavailable with its reason, and never 0 J', async (t) => {
  const { rapl, file } = createSysfs(t, {
    'intel-rapl:0': { name: 'package-0', energyUj: 1_000_000n },
  })
  chmodSync(file('intel-rapl:0', 'energy_uj'), 0o400)
  if (process.getuid?.() !== 0) chmodSync(file('intel-rapl:0', 'energy_uj'), 0o000)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  const reading = rapl.read(signal)
  if (isRoot) process.seteuid?.(0)
  const read = await reading
  assert.equal(read.kind, 'unavailable')
  assert.match(read.kind === 'unavailable' ? read.reason : '', /EACCES.*root only/)
  chmodSync(file('intel-rapl:0', 'energy_uj'), 0o444)
  assert.equal((await rapl.read(signal)).kind, 'counter')
})

test('RAPL that is not there is unavailable', async (t) => {
  const { rapl } = createSysfs(t, {})
  assert.deepEqual(await rapl.read(signal), {
    kind: 'unavailable',
    reason: 'the kernel shows no RAPL package domain',
  })
})

test('RAPL whose counter is not a number is unavailable', async (t) => {
  const { rapl, file } = createSysfs(t, { 'intel-rapl:0': { name: 'package-0', energyUj: 0n } })
  await rapl.read(signal)
  for (const text of ['', 'not supported\n', '-5\n']) {
    writeFileSync(file('intel-rapl:0', 'energy_uj'), text)
    assert.equal((await rapl.read(signal)).kind, 'unavailable', text)
  }
})

test('RAPL after a long silence starts anew, as the counter may have wrapped unseen', async (t) => {
  const { rapl, gauge, pass, count } = createSysfs(t, {
    'intel-rapl:0': { name: 'package-0', energyUj: 0n },
  })
  gauge.energyOf(await rapl.read(signal), second)
  pass(400_000)
  count('intel-rapl:0', 7_000_000n)
  assert.match(reasonOf(gauge.energyOf(await rapl.read(signal), second)), /not read for 400 s/)
  pass(1000)
  gauge.energyOf(await rapl.read(signal), second)
  pass(1000)
  count('intel-rapl:0', 12_000_000n)
  assert.deepEqual(gauge.energyOf(await rapl.read(signal), second), {
    kind: 'energy',
    energyNj: 5n * S,
  })
})

test('a RAPL counter that was reset looks like a wrap and is quarantined above three times its TDP', async (t) => {
  const { rapl, gauge, count } = createSysfs(t, {
    'intel-rapl:0': { name: 'package-0', energyUj: 200_000_000_000n, maxPowerUw: 65_000_000n },
  })
  gauge.energyOf(await rapl.read(signal), second)
  assert.equal(rapl.ceilingMilliwatts(), 195_000n)
  count('intel-rapl:0', 3_000_000n)
  assert.match(reasonOf(gauge.energyOf(await rapl.read(signal), second)), /is above 195 W/)
  count('intel-rapl:0', 43_000_000n)
  assert.deepEqual(gauge.energyOf(await rapl.read(signal), second), {
    kind: 'energy',
    energyNj: 40n * S,
  })
})

test('a RAPL counter that stands still under load is quarantined', async (t) => {
  const { rapl, gauge } = createSysfs(t, { 'intel-rapl:0': { name: 'package-0', energyUj: 9n } })
  gauge.energyOf(await rapl.read(signal), second)
  assert.match(reasonOf(gauge.energyOf(await rapl.read(signal), second)), /0 J while/)
  assert.deepEqual(gauge.energyOf(await rapl.read(signal), { elapsedNs: S, busyNs: 0n }), {
    kind: 'energy',
    energyNj: 0n,
  })
})

const reasonOf = (gauged: ReturnType<ReturnType<typeof createGauge>['energyOf']>) =>
  gauged.kind === 'unavailable' ? gauged.reason : 'believed'
