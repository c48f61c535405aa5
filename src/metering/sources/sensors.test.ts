import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { createCpuModel } from './model.ts'
import { createSensors } from './sensors.ts'
import { unavailable, type MeterSource, type Reading, type Unavailable } from './source.ts'

const S = 1_000_000_000n
const span = { elapsedNs: S, busyNs: S }
const model = createCpuModel({
  basis: 'test',
  cpus: 2,
  bandPct: 40,
  curve: [
    { permille: 0, milliwatts: 10_000n },
    { permille: 1000, milliwatts: 30_000n },
  ],
})

function createSource(name: string, ...readings: (Reading | Unavailable)[]): MeterSource {
  return {
    name,
    method: name === 'rapl' ? 'rapl' : 'plug',
    bandPct: name === 'rapl' ? 5 : 3,
    ceilingMilliwatts: () => 200_000n,
    read: async () => readings.shift() ?? unavailable('no more'),
    close: async () => {},
  }
}
const idle = { milliwatts: 10_000n, from: 'model' } as const
const power = (milliwatts: bigint): Reading => ({ kind: 'power', milliwatts })
const counter = (joules: bigint): Reading => ({ kind: 'counter', totalNj: nj(joules * S) })

test('the first sensor that can be believed gives the window, and what was passed over is said', async () => {
  const plug = createSource('shelly', power(50_000n), unavailable('HTTP 401'), power(50_000n))
  const rapl = createSource('rapl', counter(100n), counter(130n), counter(165n))
  const sensors = createSensors({ sources: [plug, rapl], model, pueMilli: 1000n })
  const window = async () => (await sensors.read())(span)
  assert.deepEqual(await window(), { readingNj: 50n * S, method: 'plug', bandPct: 3, idle })
  // RAPL was read behind the plug, so that its first window is not lost.
  assert.deepEqual(await window(), {
    readingNj: 30n * S,
    method: 'rapl',
    bandPct: 5,
    idle,
    fallback: 'shelly: HTTP 401',
  })
  assert.deepEqual(await window(), { readingNj: 50n * S, method: 'plug', bandPct: 3, idle })
  assert.deepEqual(await window(), {
    readingNj: 20n * S,
    method: 'model',
    bandPct: 40,
    idle,
    fallback: 'shelly: no more; rapl: no more',
  })
})

test('a reading of 0 J on an idle machine is a reading', async () => {
  const plug = createSource('shelly', power(0n))
  const sensors = createSensors({ sources: [plug], model, pueMilli: 1000n })
  const measure = await sensors.read()
  assert.deepEqual(measure({ elapsedNs: S, busyNs: 0n }), {
    readingNj: 0n,
    method: 'plug',
    bandPct: 3,
    idle,
  })
})
