// Work that is no request is charged each minute and at its end, and cut like a request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, type TimerClock } from '#base/clock.ts'
import { nj } from '#base/units.ts'
import { chargeEnergy, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from './charging.fixture.ts'
import { FREE_PAYER, startTestGateway } from './gateway.fixture.ts'
import { during, type LongWork, type WorkMeter } from './during.ts'
import type { Payer } from './spend.ts'

const J = 1_000_000_000n
const CPU_S = 1e9

/** A clock whose minutes the test ends. */
function createMinutes(): TimerClock & { end(): Promise<void> } {
  let fire: () => void = () => undefined
  let next = Promise.withResolvers<void>()
  return {
    wallMs: systemClock.wallMs,
    monotonicMs: systemClock.monotonicMs,
    setTimer(_ms, due) {
      fire = due
      next.resolve()
      return () => (fire = () => undefined)
    },
    async end() {
      next = Promise.withResolvers()
      fire()
      await next.promise
    },
  }
}

const chargesOf = async (bench: TestCharging): Promise<Charge[]> => {
  await bench.session.tickNow(AbortSignal.timeout(60_000))
  assert.deepEqual(brokenInvariants(bench.books), [])
  return [...bench.books.records.values()].flat().map((text) => parseCharge(Buffer.from(text)))
}

const longWork = (
  bench: TestCharging,
  {
    payer = bench.payer('acct_1', 1000n * PUSD_PER_J),
    ...over
  }: Partial<LongWork> & { payer?: Payer } = {},
): LongWork => ({
  payerOf: () => payer,
  operation: 'storage.log-delivery',
  ceilingNj: nj(100n * J),
  served: { resource: 's3://logs' },
  ...over,
})

test('each minute is a charge, and all of them are what was used', async () => {
  await using bench = await openTestCharging()
  const minutes = createMinutes()
  const deps = { charging: bench.charging, clock: minutes }
  const result = await during(deps, longWork(bench), async (meter) => {
    for (let minute = 1n; minute <= 3n; minute++) {
      bench.spendCpu(CPU_S / 5)
      meter.mark()
      meter.claim({ kind: 'cpu', cell: 'db-1', cpuNs: minute * 100_000_000n })
      await minutes.end()
    }
    return 'done'
  })
  assert.equal(result, 'done')
  const charges = await chargesOf(bench)
  assert.deepEqual(
    charges.map((charge) => [chargeEnergy(charge), charge.status, charge.resource]),
    Array.from({ length: 3 }, () => [(3n * NJ_PER_CPU_S) / 10n, 200, 's3://logs']),
  )
  assert.equal(bench.charging.running, 0)
})

test('each minute is billed its own time on the GPU', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(0n, 100n * J)
  const minutes = createMinutes()
  const long: LongWork = {
    payerOf: () => FREE_PAYER,
    operation: 'chat.create',
    ceilingNj: nj(1000n * J),
  }
  await during({ charging: gateway.charging, clock: minutes }, long, async (meter) => {
    for (let minute = 1n; minute <= 3n; minute++) {
      meter.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 0n, gpuNs: minute * 100_000_000n })
      await minutes.end()
    }
  })
  await gateway.session.tickNow(AbortSignal.timeout(60_000))
  assert.deepEqual(
    gateway.charges.map((charge) => chargeEnergy(charge)),
    [10n * J, 10n * J, 10n * J],
  )
})

test('a minute without work has no charge, and the next one has the payer of its begin', async () => {
  await using bench = await openTestCharging()
  const minutes = createMinutes()
  const payers = ['acct_1', 'acct_2', 'acct_3'].map((name) => bench.payer(name, 1000n * PUSD_PER_J))
  const long = { ...longWork(bench), payerOf: () => payers.shift() as Payer }
  await during({ charging: bench.charging, clock: minutes }, long, async (meter) => {
    meter.claim({ kind: 'cpu', cell: 'db-1', cpuNs: 100_000_000n })
    await minutes.end()
    await minutes.end()
    meter.claim({ kind: 'cpu', cell: 'db-1', cpuNs: 200_000_000n })
  })
  assert.deepEqual(
    (await chargesOf(bench)).map((charge) => [charge.account, chargeEnergy(charge)]),
    [
      ['acct_1', NJ_PER_CPU_S / 10n],
      ['acct_3', NJ_PER_CPU_S / 10n],
    ],
  )
})

test('the work is cut when the wallet ends, and billed what the wallet had', async () => {
  await using bench = await openTestCharging()
  const long = longWork(bench, { payer: bench.payer('acct_2', 8n * PUSD_PER_J) })
  const cut = during(
    { charging: bench.charging, clock: systemClock },
    long,
    async (meter, signal) => {
      for (let cpuS = 1n; !signal.aborted; cpuS++) {
        meter.claim({ kind: 'cpu', cell: 'db-1', cpuNs: cpuS * 1_000_000_000n })
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw signal.reason
    },
  )
  await assert.rejects(cut, { code: 'balance_depleted' })
  const charges = await chargesOf(bench)
  assert.deepEqual(
    charges.map((charge) => [charge.charge_pusd, charge.status]),
    [[String(8n * PUSD_PER_J), 402]],
  )
})

test('all minutes together have one ceiling', async () => {
  await using bench = await openTestCharging()
  const minutes = createMinutes()
  const long = longWork(bench, { ceilingNj: nj(7n * J) })
  const deps = { charging: bench.charging, clock: minutes }
  const cut = during(deps, long, async (meter, signal) => {
    for (let cpuS = 1n; !signal.aborted; cpuS++) {
      meter.claim({ kind: 'cpu', cell: 'db-1', cpuNs: cpuS * 1_000_000_000n })
      await minutes.end()
    }
    throw signal.reason
  })
  await assert.rejects(cut, { code: 'ceiling_reached' })
  const charges = await chargesOf(bench)
  assert.equal(
    charges.reduce((sum, charge) => sum + chargeEnergy(charge), 0n),
    7n * J,
  )
})

test('work that goes on while the next minute is admitted does not pass the ceiling', async () => {
  await using bench = await openTestCharging()
  const minutes = createMinutes()
  const payer = bench.payer('acct_1', 1000n * PUSD_PER_J)
  const admitted = Promise.withResolvers<Payer>()
  const payers = [payer, admitted.promise]
  const ceilingNj = nj(7n * J)
  const long = { ...longWork(bench, { payer, ceilingNj }), payerOf: () => payers.shift() ?? payer }
  await during({ charging: bench.charging, clock: minutes }, long, async (meter) => {
    const used = (joules: bigint) =>
      meter.claim({
        kind: 'upstream',
        meter: 'm1',
        energyNj: nj(joules * J),
        method: 'model',
        bandPct: 40,
      })
    used(3n)
    const ended = minutes.end()
    await Promise.resolve()
    used(6n)
    admitted.resolve(payer)
    await ended
    used(20n)
  })
  const charges = await chargesOf(bench)
  assert.deepEqual(charges.map(chargeEnergy), [3n * J, 4n * J])
})

test('a payer that cannot pay is not admitted, and the work does not begin', async () => {
  await using bench = await openTestCharging()
  const long = longWork(bench, { payer: { account: 'acct_3', env: 'live', funded: true } })
  const refused = during({ charging: bench.charging, clock: systemClock }, long, async () =>
    assert.fail('it began'),
  )
  await assert.rejects(refused, { code: 'balance_depleted' })
  assert.equal(bench.charging.running, 0)
})

test('a revoked token and a signal end the work, which is charged', async () => {
  await using bench = await openTestCharging()
  const deps = { charging: bench.charging, clock: systemClock }
  const whenAborted = (meter: WorkMeter, signal: AbortSignal) => {
    meter.claim({ kind: 'cpu', cell: 'db-1', cpuNs: 100_000_000n })
    return new Promise<never>((_resolve, reject) =>
      signal.aborted
        ? reject(signal.reason as Error)
        : signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    )
  }
  const revoked = during(deps, longWork(bench), whenAborted)
  const leaving = new AbortController()
  const left = during(deps, longWork(bench, { signal: leaving.signal }), whenAborted)
  leaving.abort(new Error('gone'))
  await assert.rejects(left, /gone/)
  bench.charging.revoke({ token: 'tok_acct_1', account: 'acct_1' })
  await assert.rejects(revoked, { code: 'token_revoked' })
  assert.equal((await chargesOf(bench)).length, 2)
})

test('the minute before midnight ends on its day, and the next one is of the new day', async () => {
  const midnight = Date.UTC(2031, 0, 2)
  let atMs = midnight - 30_000
  const nowMs = () => atMs
  const minutes = { ...createMinutes(), wallMs: nowMs }
  const own = { ...systemClock, wallMs: nowMs }
  await using bench = await openTestCharging(10n * J, own, undefined, { nowMs })
  const payer = bench.payer('acct_1')
  const spent = { kind: 'upstream', meter: 'm2', method: 'model', bandPct: 40 } as const
  const pass = async (toMs: number) => {
    atMs = toMs
    await bench.session.tickNow(AbortSignal.timeout(60_000))
  }
  const deps = { charging: bench.charging, clock: minutes }
  await during(deps, longWork(bench, { payer }), async (meter) => {
    meter.claim({ ...spent, energyNj: nj(2n * J) })
    await pass(midnight + 3)
    await minutes.end()
    meter.claim({ ...spent, energyNj: nj(5n * J) })
    await pass(midnight + 30_000)
  })
  const charges = await chargesOf(bench)
  assert.deepEqual(
    charges.map((charge) => [charge.to, chargeEnergy(charge)]),
    [
      ['2031-01-01T23:59:59.999Z', 2n * J],
      ['2031-01-02T00:00:30.000Z', 3n * J],
    ],
  )
  const left = ['2031-01-01', '2031-01-02'].map(
    (day) => bench.books.wallets.get(`free:acct_1:${day}`)?.posted,
  )
  assert.deepEqual(left, [8n * J, 7n * J])
})
