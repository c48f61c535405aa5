import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { createTariff } from '#metering/tariff.ts'
import { createTrueUp, NOTHING_BILLED } from '#metering/true-up.ts'
import { H200_SECONDS } from './gpu-record.fixture.ts'

const MS = 1_000_000n
const S = 1000n * MS
const LOADED_S = 16

test('the tariff of a GPU is still there after seconds without requests, whatever is to be paid back', () => {
  const tariff = createTariff({
    modelNjPerCpuS: 15_212n * MS,
    modelBandPct: 100,
    range: [0n, 760_600n * MS],
  })
  let billed = NOTHING_BILLED
  const trueUp = createTrueUp(() => billed)
  const tariffs = H200_SECONDS.map(([addedMj, busyMs, chargedMs, billedMj]) => {
    const [dynamicNj, busyNs] = [nj(BigInt(addedMj) * MS), BigInt(busyMs) * MS]
    billed = {
      chargedNs: billed.chargedNs + BigInt(chargedMs) * MS,
      accruedNj: nj(billed.accruedNj + BigInt(billedMj) * MS),
    }
    const window = { elapsedNs: S, capacityNs: S, busyNs, dynamicNj, proportional: false } as const
    const closed = trueUp.close(window)
    tariff.observe({ ...window, ...closed, method: 'nvml', bandPct: 4 })
    return Number(tariff.njPerCpuS / MS) / 1000
  })
  const [loaded = 0, last = 0] = [tariffs[LOADED_S - 1], tariffs.at(-1)]
  assert.ok(
    tariff.carriedNj > 30n * S && tariff.carriedNj < 40n * S,
    `${tariff.carriedNj} nJ carried`,
  )
  assert.ok(loaded > 300 && loaded < 320, `${loaded} J for a second of steps under load`)
  // In the run the tariff was 0 by then, and ten seconds of eight clients were free.
  assert.equal(last, loaded)
})
