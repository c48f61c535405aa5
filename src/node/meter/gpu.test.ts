import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLogger } from '#base/log.ts'
import { energyOfCpu, nj } from '#base/units.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import { createGpuModel } from '#metering/gpu/gpu-model.ts'
import type { GpuSource } from '#metering/gpu/nvidia-smi.ts'
import { createNodeMeter } from '#metering/node-meter.ts'
import { unavailable, type Reading, type Unavailable } from '#metering/sources/source.ts'
import { NOTHING_BILLED } from '#metering/true-up.ts'
import { REST, sumOfShares } from '#metering/window.ts'
import { parseWindow, windowBytes } from '#metering/window-record.ts'
import { createGpuMeter, openGpuSource, withoutGpu } from './gpu.ts'
import { askGpuTime, createGpuTime } from './gpu-time.ts'

const S = 1_000_000_000n
const log = createLogger('test', { level: 'error' })
const never = new AbortController().signal

const larger = (a: bigint, b: bigint) => (a > b ? a : b)

const cellOf = (name: string, usesGpu = true): Cell =>
  ({
    socket: `/run/${name}`,
    state: 'ready',
    spec: { name, payer: { kind: 'caller' }, ...(usesGpu ? { usesGpu: true } : {}) },
  }) as Cell

/** A card of 100 W idle and a limit of 700 W, and two models. */
function createRig() {
  const state = {
    ms: 0,
    busyNs: 0n,
    reading: unavailable('not set') as Reading | Unavailable,
    billed: NOTHING_BILLED,
  }
  const source: GpuSource = {
    name: 'nvidia-smi',
    method: 'nvml',
    bandPct: 1,
    errorMilliwatts: 5000n,
    cards: [{ uuid: 'GPU-1', name: 'NVIDIA X', driver: '1', limitMilliwatts: 700_000n }],
    idleMilliwatts: 100_000n,
    milliwatts: 0n,
    forgetIdle: () => undefined,
    ceilingMilliwatts: () => 700_000n,
    busyNs: () => state.busyNs,
    read: async () => state.reading,
    close: async () => undefined,
  }
  const cells = ['model-a', 'model-b'].map((name) => cellOf(name))
  const clock = { wallMs: () => 1_800_000_000_000 + state.ms, monotonicMs: () => state.ms }
  const gpuTime = createGpuTime({ list: () => [...cells, cellOf('gw-1', false)] }, clock)
  const meter = createNodeMeter({
    meter: 'node:gpu',
    model: createGpuModel(source),
    sources: [source],
    busyNs: source.busyNs,
    cells: gpuTime.read,
    billedByCell: () => new Map([['model-a', state.billed]]),
    pueMilli: 1000n,
    clock,
  })
  const totals = new Map<Cell, bigint>()
  const second = async (watts: number | undefined, steps: readonly bigint[], othersNs = 0n) => {
    state.ms += 1000
    state.busyNs += steps.reduce((sum, ns) => sum + ns, othersNs)
    for (const [index, cell] of cells.entries()) {
      totals.set(cell, (totals.get(cell) ?? 0n) + (steps[index] ?? 0n))
      gpuTime.take(cell, totals.get(cell) ?? 0n)
    }
    state.reading =
      watts === undefined
        ? unavailable('the card is gone')
        : { kind: 'power', milliwatts: BigInt(watts) * 1000n }
    return await meter.closeWindow()
  }
  return { state, meter, second, source }
}

test('a window of the GPU is split by steps; idle power and other programs are the operator’s', async () => {
  const { meter, second } = createRig()
  const window = await second(340, [S / 4n, S / 8n], S / 8n)
  assert.deepEqual([window.method, window.readingNj, window.idleNj], ['nvml', 340n * S, 100n * S])
  // 1 % and 5 W of 340 W.
  assert.equal(window.bandPct, 3)
  assert.deepEqual(
    window.shares.map(({ name, dynamicNj, idleNj }) => [name, dynamicNj, idleNj]),
    [
      ['model-a', 120n * S, 0n],
      ['model-b', 60n * S, 0n],
      [REST, 60n * S, 100n * S],
    ],
  )
  assert.deepEqual(parseWindow(windowBytes(window)), window)
  for (let i = 0; i < 9; i++) await second(340, [S / 4n, S / 8n], S / 8n)
  // The division between models that always come together is not known: a part of 480 J is the operator's.
  assert.ok(meter.tariffNjPerCpuS > 360n * S && meter.tariffNjPerCpuS < 480n * S)
  assert.deepEqual(meter.tariffKnown, { method: 'nvml', bandPct: 100 })
  for (let i = 0; i < 14; i++) await second(220, [S / 4n])
  const { njPerCpuS = 0n, known } = meter.tariffs.cells.get('model-a') ?? {}
  assert.equal((njPerCpuS + S / 2n) / S, 480n)
  // Of the 120 W that the work of one model added, 5 W are 5 %.
  assert.deepEqual(known, { method: 'nvml', bandPct: 6 })
})

test('a model that adds little to a large card is billed as little, and never at a fixed least', async () => {
  // As seen on an H200 with a model of 135 M parameters: 127 W at rest, and 132 W with a step for a quarter of the time.
  const { state, meter, second } = createRig()
  for (let k = 0; k < 60; k++) {
    const { chargedNs, accruedNj } = state.billed
    const stepNs = S / 4n
    const billedNj = energyOfCpu(stepNs, meter.tariffNjPerCpuS)
    state.billed = { chargedNs: chargedNs + stepNs, accruedNj: nj(accruedNj + billedNj) }
    await second(k % 2 === 0 ? 106 : 104, [stepNs])
  }
  assert.ok(meter.tariffNjPerCpuS < 22n * S && meter.tariffNjPerCpuS > 15n * S)
  assert.deepEqual(meter.tariffKnown, { method: 'nvml', bandPct: 100 })
  const { share_nj: shareNj, accrued_nj: accruedNj } = meter.status().true_up
  const billed = Number(accruedNj) / Number(shareNj)
  assert.ok(billed > 0.9 && billed < 1.01, `${billed} of the share is billed`)
})

test('while the card is silent a guess stands in, with the reason and a band of 100 %', async () => {
  const { second } = createRig()
  const window = await second(undefined, [S / 2n])
  assert.deepEqual([window.method, window.bandPct], ['model', 100])
  assert.equal(window.fallback, 'nvidia-smi: the card is gone')
  // A fiftieth of the 600 W between idle and limit, for half a second.
  assert.equal(window.readingNj, 106n * S)
})

test('every window of the GPU adds up to its reading, whatever the cards and the steps say', async () => {
  const seconds = fc.array(
    fc.record({
      watts: fc.option(fc.integer({ min: 0, max: 900 }), { nil: undefined }),
      steps: fc.tuple(fc.bigInt(0n, 2n * S), fc.bigInt(0n, 2n * S)),
      othersNs: fc.bigInt(0n, S),
    }),
    { maxLength: 20 },
  )
  const property = fc.asyncProperty(seconds, async (all) => {
    const { second } = createRig()
    for (const { watts, steps, othersNs } of all) {
      const window = await second(watts, steps, othersNs)
      assert.equal(sumOfShares(window.shares), window.readingNj)
      const operators = window.shares.filter(({ payer }) => payer.kind === 'operator')
      const callers = window.shares.filter(({ payer }) => payer.kind === 'caller')
      assert.equal(sumOfShares(operators) + sumOfShares(callers), window.readingNj)
      assert.ok(callers.every(({ idleNj }) => idleNj === 0n))
      if (watts === 0)
        assert.notEqual(window.method, watts === 0 && window.busyNs > 0n ? 'nvml' : '')
    }
  })
  await fc.assert(property, { numRuns: 100, seed: 7 })
})

test('over a long time requests are billed what their steps took of the windows', async () => {
  const { state, meter, second } = createRig()
  for (let k = 0; k < 300; k++) {
    // The power follows the load a second late, as the mean of a card does.
    const stepNs = (k % 20 < 10 ? 9n : 3n) * (S / 10n)
    const watts = 100 + ((k - 1) % 20 < 10 ? 450 : 150)
    const { tariffNjPerCpuS } = meter
    const { chargedNs, accruedNj } = state.billed
    state.billed = {
      chargedNs: chargedNs + stepNs,
      accruedNj: nj(accruedNj + energyOfCpu(stepNs, tariffNjPerCpuS)),
    }
    await second(watts, [stepNs])
  }
  const { true_up: trueUp, reading_nj: readingNj } = meter.status()
  const off = Number(trueUp.true_up_nj) / Number(readingNj)
  // The operator pays for the late power of a changing load; requests never pay more than the meter read.
  assert.ok(off > -0.06 && off < 0.005, `the bill is ${off} of the reading off`)
})

test('a cell is asked for the time of its steps, and a lie is not believed', async () => {
  const cells = ['model-a', 'model-b', 'model-c'].map((name) => cellOf(name))
  const list: Cells['list'] = () => [...cells, cellOf('gw-1', false)]
  const gpuTime = createGpuTime({ list }, { monotonicMs: () => 0 })
  const asked: string[] = []
  const answers: Record<string, unknown> = { a: { gpu_ns: '77' }, b: { gpu_ns: -1 }, c: {} }
  const ask = (socket: string, page: string) => {
    asked.push(`${socket} ${page}`)
    return Promise.resolve(answers[socket.at(-1) ?? ''])
  }
  await askGpuTime({ gpuTime, cells: { list }, ask, log, signal: never })
  assert.deepEqual(
    asked,
    cells.map(({ socket }) => `${socket} /gpu`),
  )
  assert.deepEqual(
    gpuTime.read().map(({ name, cpuNs }) => [name, cpuNs]),
    [
      ['model-a', 77n],
      ['model-b', 0n],
      ['model-c', 0n],
    ],
  )
})

test('a total that jumps is taken as far as time has passed, and the tariff stays', async () => {
  const { meter, second } = createRig()
  for (let i = 0; i < 10; i++) await second(340, [S / 4n, S / 8n], S / 8n)
  const tariff = meter.tariffNjPerCpuS
  const window = await second(340, [10n ** 17n, S / 8n])
  assert.equal(window.shares[0]?.cpuNs, 2n * S)
  for (let i = 0; i < 4; i++) await second(340, [S / 4n, S / 8n], S / 8n)
  const part = Number(meter.tariffNjPerCpuS) / Number(tariff)
  assert.ok(part > 0.8 && part < 1.01, `the tariff is ${part} of that before the jump`)
})

test('no totals of a cell are taken faster than time passes, and those of an honest one whole', () => {
  const rise = fc.record({ ms: fc.nat(3000), ns: fc.bigInt(0n, 10n ** 12n), anew: fc.boolean() })
  const property = fc.property(fc.array(rise, { maxLength: 20 }), (rises) => {
    let ms = 0
    const [lying, honest] = [cellOf('model-a'), cellOf('model-b')]
    const gpuTime = createGpuTime({ list: () => [lying, honest] }, { monotonicMs: () => ms })
    const taken = () => gpuTime.read().map(({ cpuNs }) => cpuNs)
    let total = 0n
    let told = 0n
    for (const { ms: more, ns, anew } of rises) {
      const before = taken()[0] ?? 0n
      ms += more
      total = anew ? ns : total + ns
      gpuTime.take(lying, total)
      // A step of half a second counts from its end.
      told = larger(told, BigInt(ms - (ms % 500)) * 1_000_000n)
      gpuTime.take(honest, told)
      const [lie = 0n, truth] = taken()
      assert.ok(lie >= before && lie <= BigInt(ms) * 1_000_000n + S)
      if (rises[0] !== undefined && rises[0].ms <= 1000) assert.equal(truth, told)
    }
  })
  fc.assert(property, { seed: 7 })
})

test('a model that starts, for as long as it is loaded, gets ready or ends makes the cards’ idle power unknown', async () => {
  const cell = { ...cellOf('model-a'), pid: 7, state: 'starting' as Cell['state'] }
  let cells: Cell[] = []
  let forgotten = 0
  const { source } = createRig()
  const meter = createGpuMeter(
    { ...source, forgetIdle: () => void forgotten++ },
    {
      meter: 'node',
      cells: { list: () => cells },
      billedByCell: () => new Map(),
      pueMilli: 1000n,
      ask: () => Promise.resolve({ gpu_ns: '0' }),
      log,
    },
  )
  const seen = async () => {
    await meter?.refresh(never)
    return forgotten
  }
  assert.equal(await seen(), 0)
  cells = [cell]
  // A file of many gigabytes is loaded for minutes: quiet seconds before its context is made tell nothing.
  assert.deepEqual([await seen(), await seen(), await seen()], [1, 2, 3])
  cells = [{ ...cell, state: 'ready' }]
  assert.deepEqual([await seen(), await seen()], [4, 4])
  cells = [{ ...cell, state: 'ready', pid: 8 }]
  assert.equal(await seen(), 5)
  cells = []
  assert.deepEqual([await seen(), await seen()], [6, 6])
})

test('a meter at the wall is read without the cards, and not at all while these are silent', async () => {
  const wall = {
    name: 'shelly',
    method: 'plug',
    bandPct: 3,
    ceilingMilliwatts: () => 3_680_000n,
    read: async (): Promise<Reading> => ({ kind: 'power', milliwatts: 500_000n }),
    close: async () => undefined,
  } as const
  const read = (milliwatts: bigint | undefined) => withoutGpu(wall, { milliwatts }).read(never)
  assert.deepEqual(await read(350_000n), { kind: 'power', milliwatts: 150_000n })
  assert.deepEqual(await read(600_000n), { kind: 'power', milliwatts: 0n })
  assert.equal((await read(undefined)).kind, 'unavailable')
})

test('ERGON_GPU needs a meter of the GPU, or one at the wall', async () => {
  const options = { environment: { PATH: '/nowhere' }, log }
  const plugUrl = undefined
  await assert.rejects(openGpuSource({ gpu: 'cuda', plugUrl }, options), /nvidia-smi ENOENT/)
  assert.equal(await openGpuSource({ gpu: 'off', plugUrl }, options), undefined)
})
