import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { createTariff } from '#metering/tariff.ts'
import { createTrueUp, NOTHING_BILLED } from '#metering/true-up.ts'
import { H200_SECONDS } from './gpu-record.fixture.ts'

const MS = 1_000_000n
const S = 1000n * MS
const LOADED_S = 16

/** The tariff behind the run's load, and a function that adds a second. */
function tariffOfRun() {
  const tariff = createTariff({
    modelNjPerCpuS: 15_212n * MS,
    modelBandPct: 100,
    range: [0n, 760_600n * MS],
  })
  let billed = NOTHING_BILLED
  const trueUp = createTrueUp(() => billed)
  const second = (work: {
    readonly dynamicNj: bigint
    readonly busyNs: bigint
    readonly chargedNs: bigint
    readonly billedNj: bigint
  }) => {
    billed = {
      chargedNs: billed.chargedNs + work.chargedNs,
      accruedNj: nj(billed.accruedNj + work.billedNj),
    }
    const { busyNs } = work
    const window = {
      elapsedNs: S,
      capacityNs: S,
      busyNs,
      dynamicNj: nj(work.dynamicNj),
      proportional: false,
    } as const
    const closed = trueUp.close(window)
    tariff.observe({ ...window, ...closed, method: 'nvml', bandPct: 4 })
    return Number(tariff.njPerCpuS / MS) / 1000
  }
  const tariffs = H200_SECONDS.map(([addedMj, busyMs, chargedMs, billedMj]) =>
    second({
      dynamicNj: BigInt(addedMj) * MS,
      busyNs: BigInt(busyMs) * MS,
      chargedNs: BigInt(chargedMs) * MS,
      billedNj: BigInt(billedMj) * MS,
    }),
  )
  return { tariff, tariffs, second, totals: () => trueUp.totals }
}

test('the tariff of a GPU is still there after seconds without requests, whatever is to be paid back', () => {
  const { tariff, tariffs } = tariffOfRun()
  const [loaded = 0, last = 0] = [tariffs[LOADED_S - 1], tariffs.at(-1)]
  assert.ok(
    tariff.carriedNj > 30n * S && tariff.carriedNj < 40n * S,
    `${tariff.carriedNj} nJ carried`,
  )
  assert.ok(loaded > 300 && loaded < 320, `${loaded} J for a second of steps under load`)
  // In the run the tariff was 0 by then, and ten seconds of eight clients were free.
  assert.equal(last, loaded)
})

// One request of 1 ms a second made the tariff 0 in five seconds, and the next 30 s of steps cost nothing.
for (const smallMs of [1n, 5n, 10n, 20n])
  test(`a stream on a GPU is billed 75 to 100 % of its share behind a minute of ${smallMs} ms a second`, () => {
    const { tariff, second, totals } = tariffOfRun()
    const steps = (chargedNs: bigint, njPerS: bigint) =>
      second({
        dynamicNj: chargedNs * 310n,
        busyNs: chargedNs,
        chargedNs,
        billedNj: (chargedNs * njPerS) / S,
      })
    for (let nth = 0; nth < 60; nth++) {
      steps(smallMs * MS, tariff.njPerCpuS)
      const percent = Number((tariff.njPerCpuS * 100n) / (310n * S))
      assert.ok(percent >= 75 && percent <= 100, `${percent} % of the rate in second ${nth}`)
    }
    const [before, agreed] = [totals(), tariff.njPerCpuS]
    for (let nth = 0; nth < 30; nth++) steps(S, agreed)
    const { accruedNj, shareNj } = totals()
    const billed = accruedNj - before.accruedNj
    const share = shareNj - before.shareNj
    assert.ok(billed * 100n >= share * 75n && billed <= share, `${billed} nJ of ${share} nJ`)
    // The over-billing of the run is paid back by then, and nothing is taken off any more.
    assert.equal(tariff.carriedNj, 0n)
    assert.ok(tariff.njPerCpuS > 300n * S, `${tariff.njPerCpuS} nJ for a second of steps`)
  })
