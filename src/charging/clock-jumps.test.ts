// A wall clock that jumps by an hour while workloads run: each pays what it used, no hour is paid that was skipped, and none
// twice that came again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Clock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { chargeEnergy, parseCharge } from '#contract/ledger/charge.ts'
import { createNodeMeter } from '#metering/node-meter.ts'
import { createCpuModel } from '#metering/sources/model.ts'
import { openTestCharging, type TestCharging } from './charging.fixture.ts'
import { createCellMinutes } from './cell-minutes.ts'

const CELL = 'wl-1-1-1'
const ACCOUNT = 'acct_1'
const START_MS = Date.parse('2026-03-01T12:00:00Z')
const HOUR_S = 3600
const NS_PER_S = 1_000_000_000n
/** A machine of 2 W, and 1 W at rest, which the workload has reserved. */
const NJ_PER_CPU_S = NS_PER_S
const IDLE_NJ_PER_S = NS_PER_S
const WHOLE_PPB = 1_000_000_000
/** A minute, and the window that it begins in. */
const CHARGE_MS_MAX = 61_000
const log = createLogger('test', { level: 'error', write: () => {} })
const model = createCpuModel({
  basis: 'test',
  cpus: 1,
  bandPct: 40,
  curve: [
    { permille: 0, milliwatts: 1000n },
    { permille: 1000, milliwatts: 2000n },
  ],
})

type Step =
  /** A second in which the workload uses so many thousandths of a processor. */
  { readonly permille: number } | { readonly jumpS: number } | 'kill'

const second = fc.nat(1000).map((permille): Step => ({ permille }))
const jump = fc
  .constantFrom(HOUR_S, -HOUR_S, 59, -59, 24 * HOUR_S, -24 * HOUR_S)
  .map((jumpS): Step => ({ jumpS }))
const runs = (...more: fc.Arbitrary<Step>[]): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 30, arbitrary: second },
      ...[jump, ...more].map((arbitrary) => ({ weight: 1, arbitrary })),
    ),
    { minLength: 60, maxLength: 200 },
  )

type Time = { wallMs: number; ms: number; busyNs: bigint }

/** The charges, and the energy that the workload has used. */
async function play(all: readonly Step[], elapsedOf = ({ ms }: Time) => ms) {
  await using bench = await openTestCharging()
  bench.payer(ACCOUNT, 10n ** 15n)
  const time: Time = { wallMs: START_MS, ms: 1000, busyNs: 0n }
  const clock: Clock = { wallMs: () => time.wallMs, monotonicMs: () => elapsedOf(time) }
  const live = async () => {
    const meter = createNodeMeter({
      meter: 'm1',
      model,
      sources: [],
      busyNs: () => time.busyNs,
      cells: () => [
        {
          name: CELL,
          payer: { kind: 'account', account: ACCOUNT },
          cpuNs: time.busyNs,
          reservedPpb: WHOLE_PPB,
        },
      ],
      billed: () => ({ chargedNs: 0n, accruedNj: 0n }) as never,
      pueMilli: 1000n,
      clock,
    })
    await meter.closeWindow()
    return {
      meter,
      minutes: createCellMinutes({
        charging: bench.charging,
        payerOf: (account) => ({ account, env: 'live', funded: true }),
        meter: 'm1',
        stateOf: () => 'ready',
        log,
      }),
    }
  }
  let life = await live()
  let usedNj = 0n
  for (const step of all) {
    if (step === 'kill') {
      await life.minutes.charge('all')
      life = await live()
    } else if ('jumpS' in step) time.wallMs += step.jumpS * 1000
    else {
      time.ms += 1000
      time.wallMs += 1000
      const usedNs = BigInt(step.permille) * 1_000_000n
      time.busyNs += usedNs
      usedNj += (usedNs * NJ_PER_CPU_S) / NS_PER_S + IDLE_NJ_PER_S
      life.minutes.add(await life.meter.closeWindow())
      await life.minutes.charge('over')
    }
  }
  await life.minutes.charge('all')
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  return { charges: chargesOf(bench), usedNj }
}

const chargesOf = (bench: TestCharging) =>
  [...bench.books.records.values()]
    .flat()
    .filter((text) => text.includes('"operation":"workload.standing"'))
    .map((text) => parseCharge(Buffer.from(text)))

const paysWhatItUsed = (elapsedOf?: (time: Time) => number) =>
  fc.assert(
    fc.asyncProperty(runs(fc.constant<Step>('kill')), async (all) => {
      const { charges, usedNj } = await play(all, elapsedOf)
      assert.equal(
        charges.reduce((sum, charge) => sum + chargeEnergy(charge), 0n),
        usedNj,
      )
      // Of no hour that was skipped.
      for (const { from, to } of charges) {
        const ms = Date.parse(to) - Date.parse(from)
        assert.ok(ms > 0 && ms <= CHARGE_MS_MAX, `${from} to ${to}`)
      }
    }),
    { numRuns: 20 },
  )

test('a workload pays what it used, to the nanojoule, however the clock jumps', () =>
  paysWhatItUsed())

test('planted: a meter that counts time by the wall clock is found', () =>
  assert.rejects(paysWhatItUsed(({ wallMs }) => wallMs)))
