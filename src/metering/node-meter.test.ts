import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { systemClock, type Clock } from '#base/clock.ts'
import { energyOfCpu, nj } from '#base/units.ts'
import type { CellReading } from './interval.ts'
import { createMarks, type MarkOwner } from './marks.ts'
import { createNodeMeter, type NodeMeterDeps } from './node-meter.ts'
import { createBusyReader } from './sources/busy.ts'
import { parseCpuInfo } from './sources/cpu-info.ts'
import { createCpuModel, modelOfCpu } from './sources/model.ts'
import { unavailable, type MeterSource, type Reading, type Unavailable } from './sources/source.ts'
import { NOTHING_BILLED } from './true-up.ts'
import { REST, sumOfShares } from './window.ts'
import { parseWindow, windowBytes } from './window-record.ts'

const S = 1_000_000_000n
// 10 W idle, 30 W at full load of two processors: 10 J per CPU-second.
const model = createCpuModel({
  basis: 'test',
  cpus: 2,
  bandPct: 40,
  curve: [
    { permille: 0, milliwatts: 10_000n },
    { permille: 1000, milliwatts: 30_000n },
  ],
})

/** A machine whose time, counters and sensor are set by the test. */
function createRig(more: Partial<NodeMeterDeps> = {}) {
  const state = {
    ms: 1000,
    wallMs: 1_700_000_000_000,
    busyNs: 500n * S,
    cells: [] as CellReading[],
    reading: unavailable('not set') as Reading | Unavailable,
    billed: NOTHING_BILLED,
  }
  const clock: Clock = { wallMs: () => state.wallMs, monotonicMs: () => state.ms }
  const sensor: MeterSource = {
    name: 'plug',
    method: 'plug',
    bandPct: 5,
    ceilingMilliwatts: () => 200_000n,
    read: async () => state.reading,
    close: async () => {},
  }
  const meter = createNodeMeter({
    meter: 'node',
    model,
    sources: [],
    busyNs: () => state.busyNs,
    cells: () => state.cells,
    billed: () => state.billed,
    pueMilli: 1000n,
    clock,
    ...more,
  })
  const pass = (ms: number, busyNs: bigint) => {
    state.ms += ms
    state.wallMs += ms
    state.busyNs += busyNs
  }
  return { state, sensor, meter, pass, clock }
}

const cell = (name: string, cpuNs: bigint, account?: string): CellReading => ({
  name,
  payer: account === undefined ? { kind: 'operator' } : { kind: 'account', account },
  cpuNs,
})

test('closeWindow() without a sensor splits the model by CPU time', async () => {
  const { state, meter, pass } = createRig()
  state.cells = [cell('db-1', 0n, 'acct_a'), cell('gw-1', 0n)]
  await meter.closeWindow()
  pass(1000, S)
  state.cells = [cell('db-1', S / 2n, 'acct_a'), cell('gw-1', S / 4n)]
  const window = await meter.closeWindow()
  assert.equal(window.method, 'model')
  assert.equal(window.readingNj, 20n * S)
  assert.equal(window.idleNj, 10n * S)
  assert.equal(window.njPerCpuS, 10n * S)
  assert.deepEqual(
    window.shares.map((share) => [share.name, share.dynamicNj, share.idleNj]),
    [
      ['db-1', 5n * S, 0n],
      ['gw-1', (5n * S) / 2n, 0n],
      [REST, (5n * S) / 2n, 10n * S],
    ],
  )
})

test('closeWindow() multiplies the reading, idle and tariff by the PUE', async () => {
  const { meter, pass } = createRig({ pueMilli: 1500n })
  assert.equal(meter.tariffNjPerCpuS, 15n * S)
  pass(1000, S)
  const window = await meter.closeWindow()
  assert.deepEqual([window.readingNj, window.idleNj, window.pueMilli], [30n * S, 15n * S, 1500n])
  assert.equal(meter.tariffNjPerCpuS, 15n * S)
})

test('closeWindow() gives every window of a meter its own second', async () => {
  const { state, meter, pass } = createRig()
  const first = await meter.closeWindow()
  pass(400, 0n)
  const second = await meter.closeWindow()
  state.wallMs -= 3_600_000
  const third = await meter.closeWindow()
  assert.deepEqual([second.k - first.k, third.k - second.k], [1, 1])
})

test('closeWindow() refuses to close two windows at once', async () => {
  const { meter } = createRig()
  const first = meter.closeWindow()
  await assert.rejects(meter.closeWindow(), /one at a time/)
  await first
})

test('closeWindow() counts a cell from its start, its restart or its adoption', async () => {
  const { state, meter, pass } = createRig()
  pass(1000, S)
  state.cells = [cell('new', S / 10n), cell('adopted', 900n * S)]
  let window = await meter.closeWindow()
  assert.deepEqual(
    window.shares.map((share) => share.cpuNs),
    [S / 10n, 0n, S - S / 10n],
  )
  pass(1000, S)
  state.cells = [cell('new', S / 20n), cell('adopted', 900n * S + 7n)]
  window = await meter.closeWindow()
  assert.deepEqual(
    window.shares.slice(0, 2).map((share) => share.cpuNs),
    [S / 20n, 7n],
  )
})

const faults: [name: string, reading: Reading | Unavailable, fallback: RegExp][] = [
  ['0 W under load', { kind: 'power', milliwatts: 0n }, /plug: quarantined: 0 J while/],
  ['a 53 kW spike', { kind: 'power', milliwatts: 53_130_000n }, /53130 W is above 200 W/],
  ['negative power', { kind: 'power', milliwatts: -5n }, /fell/],
  ['no answer', unavailable('ETIMEDOUT'), /plug: ETIMEDOUT/],
]
for (const [name, reading, fallback] of faults) {
  test(`closeWindow() bills the model in the very window of ${name}, and says so`, async () => {
    const rig = createRig()
    const { sensor } = rig
    const { state, meter, pass } = createRig({
      sources: [{ ...sensor, read: async () => state.reading }],
    })
    state.reading = { kind: 'power', milliwatts: 25_000n }
    pass(1000, S)
    assert.equal((await meter.closeWindow()).method, 'plug')
    state.reading = reading
    pass(1000, S)
    const window = await meter.closeWindow()
    assert.equal(window.method, 'model')
    assert.equal(window.bandPct, 40)
    assert.equal(window.readingNj, 20n * S)
    assert.match(window.fallback ?? '', fallback)
    state.reading = { kind: 'power', milliwatts: 25_000n }
    pass(1000, S)
    const after = await meter.closeWindow()
    assert.deepEqual([after.method, after.bandPct, after.fallback], ['plug', 5, undefined])
    assert.equal(after.readingNj, 25n * S)
    assert.equal(meter.status().windows_fallback, '1')
  })
}

test('closeWindow() never subtracts a counter across a window that the model billed', async () => {
  const { sensor } = createRig()
  const rig = createRig({
    sources: [{ ...sensor, name: 'rapl', read: async () => rig.state.reading }],
  })
  const counters: (bigint | undefined)[] = [5n, 25n, undefined, 65n, 85n, 3n, 23n]
  const methods: string[] = []
  let billed = 0n
  for (const joules of counters) {
    rig.state.reading =
      joules === undefined ? unavailable('EACCES') : { kind: 'counter', totalNj: nj(joules * S) }
    rig.pass(1000, S)
    const window = await rig.meter.closeWindow()
    methods.push(window.method)
    billed += window.readingNj
  }
  assert.deepEqual(methods, ['model', 'plug', 'model', 'model', 'plug', 'model', 'plug'])
  assert.equal(billed, 7n * 20n * S)
})

test('window records are canonical bytes that read back as the same window', async () => {
  const { state, meter, pass } = createRig()
  pass(1000, S)
  state.cells = [cell('db-1', S / 3n, 'acct_a'), cell('gone', 0n)]
  const window = await meter.closeWindow()
  const bytes = windowBytes(window)
  const back = parseWindow(bytes)
  assert.deepEqual(
    back.shares,
    window.shares.filter((share) => share.name !== 'gone'),
  )
  assert.deepEqual({ ...back, shares: [] }, { ...window, shares: [] })
  const text = bytes.toString()
  assert.throws(() => parseWindow(Buffer.from(` ${text}`)), /not canonical/)
  const reading = `"reading_nj":"${window.readingNj}"`
  assert.ok(text.includes(reading))
  const raised = text.replace(reading, `"reading_nj":"${window.readingNj + 1n}"`)
  assert.throws(() => parseWindow(Buffer.from(raised)), /do not add up/)
  assert.throws(() => parseWindow(Buffer.from('{}')), /not a window record/)
})

test('status() prints watts, tariff and true-up of the last window', async () => {
  const rig = createRig()
  const { state, meter, pass } = createRig({
    sources: [{ ...rig.sensor, read: async () => state.reading }],
  })
  state.reading = { kind: 'power', milliwatts: 20_000n }
  state.billed = { chargedNs: S / 2n, accruedNj: energyOfCpu(S / 2n, 21n * (S / 2n)) }
  pass(1000, S)
  const window = await meter.closeWindow()
  assert.deepEqual([window.chargedNs, window.accruedNj], [S / 2n, (21n * S) / 4n])
  const status = meter.status()
  assert.equal(status.now?.watts, '20')
  assert.equal(status.now?.busy_cpus, '1')
  // 0.5 CPU-s were billed at 10.5 J and take 10: 0.25 J too much, taken off the next 10 s, in which
  // 5 CPU-s are expected.
  assert.equal(status.tariff_j_per_cpu_s, '9.95')
  assert.equal(status.true_up.accrued_nj, String((21n * S) / 4n))
  assert.equal(status.true_up.share_nj, String(5n * S))
  assert.equal(status.true_up.true_up_nj, String(S / 4n))
  assert.equal(status.true_up.carried_nj, String(S / 4n))
  assert.deepEqual(JSON.parse(JSON.stringify(status)), status)
})

test('closeWindow() moves the tariff only by what was measured', async () => {
  const rig = createRig()
  const { state, meter, pass } = createRig({
    sources: [{ ...rig.sensor, read: async () => state.reading }],
  })
  // More was billed than the window holds, but the model is linear: its rate is not in error.
  state.billed = { chargedNs: S, accruedNj: nj(11n * S) }
  pass(1000, S)
  await meter.closeWindow()
  assert.equal(meter.tariffNjPerCpuS, 10n * S)
  assert.equal(meter.status().true_up.true_up_nj, String(S))
  state.reading = { kind: 'power', milliwatts: 40_000n }
  pass(1000, S)
  await meter.closeWindow()
  const measured = meter.tariffNjPerCpuS
  assert.ok(measured > 20n * S)
  state.reading = unavailable('gone')
  pass(1000, S)
  await meter.closeWindow()
  assert.ok(meter.tariffNjPerCpuS < measured && meter.tariffNjPerCpuS > 10n * S)
})

test('a live window of this machine conserves, and marks are a share of it', async (t) => {
  const busy = createBusyReader()
  t.after(() => busy.close())
  const marks = createMarks()
  const owners = Array.from({ length: 8 }, (): MarkOwner => ({ cpuNs: 0 }))
  const charged = () => BigInt(owners.reduce((total, owner) => total + owner.cpuNs, 0))
  const tariff = { nj: 0n }
  const cpu = parseCpuInfo(readFileSync('/proc/cpuinfo', 'utf8'))
  marks.mark(marks.operator)
  const meter = createNodeMeter({
    meter: 'live',
    model: modelOfCpu(cpu),
    sources: [],
    busyNs: busy.busyNs,
    cells: () => [
      { name: 'requests', payer: { kind: 'caller' }, cpuNs: charged() },
      { name: 'background', payer: { kind: 'operator' }, cpuNs: BigInt(marks.operator.cpuNs) },
    ],
    billed: () => ({ chargedNs: charged(), accruedNj: energyOfCpu(charged(), tariff.nj) }),
    pueMilli: 1000n,
    clock: systemClock,
  })
  tariff.nj = meter.tariffNjPerCpuS
  const block = Buffer.alloc(16_384, 7)
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      owners.map(async (owner) => {
        for (let slice = 0; slice < 5; slice++) {
          await turn()
          for (let i = 0; i < 20; i++) createHash('sha256').update(block).digest()
          marks.mark(owner)
        }
      }),
    )
    marks.mark(marks.operator)
    const window = await meter.closeWindow()
    assert.equal(window.method, 'model')
    assert.equal(sumOfShares(window.shares), window.readingNj)
    assert.equal(window.readingNj, sumOfShares(parseWindow(windowBytes(window)).shares))
    assert.ok(window.readingNj > 0n)
    assert.ok((window.shares[0]?.dynamicNj ?? 0n) > 0n)
  }
  // The model is linear: what was billed is the share, except for rounding and windows so short that the
  // cells' counters and the clock disagree about how much fits.
  const { true_up: trueUp, reading_nj: reading } = meter.status()
  const off = Math.abs(Number(trueUp.true_up_nj))
  assert.ok(off <= 0.02 * Number(reading), `true-up ${off} nJ of ${reading}`)
})

for (const [set, idleWatts, from] of [
  [undefined, 10n, 'model'],
  [42_000n, 42n, 'setting'],
] as const)
  test(`idle under a sensor is what the ${from} says, and status() names it`, async () => {
    const reading = { kind: 'power', milliwatts: 60_000n } as const
    const { sensor } = createRig()
    const best = set === undefined ? sensor : { ...sensor, idleMilliwatts: set }
    let now: Reading | Unavailable = reading
    const { meter, pass } = createRig({ sources: [{ ...best, read: async () => now }] })
    pass(1000, S)
    const window = await meter.closeWindow()
    assert.equal(window.idleNj, idleWatts * S)
    assert.equal(window.njPerCpuS, (60n - idleWatts) * S)
    assert.equal(meter.status().now?.idle_from, from)
    // The model stands in with the model's own idle: the setting is of the sensor.
    now = unavailable('silent')
    pass(1000, S)
    assert.equal((await meter.closeWindow()).idleNj, 10n * S)
    assert.equal(meter.status().now?.idle_from, 'model')
  })
