// Charging and the node's meter in their loop: what is billed moves the tariff, the tariff what is
// billed. Seen live: one long stream made the tariff jump between the model's and 0 each second.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { energyOfCpu, nj } from '#base/units.ts'
import { createNodeMeter } from '#metering/node-meter.ts'
import type { Billed } from '#metering/true-up.ts'
import { createCpuModel, type CurvePoint } from '#metering/sources/model.ts'
import { FREE_PAYER, S, startTestGateway } from './gateway.fixture.ts'

const CPUS = 2
const CEILING = nj(500n * S)
const SHORT_NS = 10_000_000n

/** Two processors in time that the test moves, metered by a model of the given curve. */
function createMachine(curve: readonly CurvePoint[], billed: () => Billed) {
  const time = { ms: 1000, busyNs: 0n, cellNs: 0n }
  const model = createCpuModel({ basis: 'test', cpus: CPUS, bandPct: 40, curve })
  const meter = createNodeMeter({
    meter: 'node',
    model,
    sources: [],
    busyNs: () => time.busyNs,
    cells: () => [{ name: 'model-a', payer: { kind: 'caller' }, cpuNs: time.cellNs }],
    billed,
    pueMilli: 1000n,
    clock: { wallMs: () => time.ms, monotonicMs: () => time.ms },
  })
  return {
    meter,
    /** A second in which the model cell works for so long, and others too. */
    async second(cellNs: bigint, othersNs: bigint) {
      time.ms += 1000
      time.cellNs += cellNs
      time.busyNs += cellNs + othersNs
      return await meter.closeWindow()
    },
  }
}

/** A minute of one stream beside short requests; each of them is billed at the tariff it was admitted at. */
async function minuteOfStream(curve: readonly CurvePoint[]) {
  await using gateway = await startTestGateway()
  const { charging } = gateway
  const { meter, second } = createMachine(curve, () => charging.billed())
  const agreed = meter.tariffNjPerCpuS
  await gateway.setTariff(agreed)
  const stream = charging.open()
  await stream.admit(FREE_PAYER, 'chat.create', CEILING)
  const tariffs: bigint[] = []
  let streamNs = 0n
  for (let window = 0n; window < 60n; window++) {
    const spentNs = 700_000_001n + window * 1_234_567n
    streamNs += spentNs
    stream.claim({ kind: 'cpu', cell: 'model-a', cpuNs: streamNs })
    await second(spentNs + SHORT_NS, 400_000_003n)
    tariffs.push(meter.tariffNjPerCpuS)
    await gateway.setTariff(meter.tariffNjPerCpuS)
    const short = charging.open()
    await short.admit(FREE_PAYER, 'chat.create', CEILING)
    short.claim({ kind: 'cpu', cell: 'model-a', cpuNs: SHORT_NS })
    const { energy_nj } = short.settle(200)
    assert.equal(energy_nj, String(energyOfCpu(SHORT_NS, meter.tariffNjPerCpuS)))
  }
  assert.equal(stream.settle(200).energy_nj, String(energyOfCpu(streamNs, agreed)))
  return { agreed, tariffs }
}

test('a long stream leaves the tariff of a linear model where it is', async () => {
  const { agreed, tariffs } = await minuteOfStream([
    { permille: 0, milliwatts: 1_500n },
    { permille: 1000, milliwatts: 4_640n },
  ])
  assert.deepEqual([...new Set(tariffs)], [agreed])
})

test('a long stream lets the tariff of a calibrated curve follow the windows', async () => {
  // At about 600 permille a CPU-second takes 1.9 J, where the chord that it starts at says 1.57.
  const { tariffs } = await minuteOfStream([
    { permille: 0, milliwatts: 1_500n },
    { permille: 500, milliwatts: 3_500n },
    { permille: 1000, milliwatts: 4_640n },
  ])
  for (const tariff of tariffs.slice(10))
    assert.ok(tariff > 1_700_000_000n && tariff < 2_000_000_000n, tariffs.join(' '))
})
