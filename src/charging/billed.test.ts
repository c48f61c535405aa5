import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj, sum } from '#base/units.ts'
import { chargeEnergy } from '#contract/ledger/charge.ts'
import { NOTHING_BILLED } from '#metering/true-up.ts'
import { FREE_PAYER, S, startTestGateway, type TestGateway } from './gateway.fixture.ts'

const CEILING = nj(100n * S)
const TARIFF = 2n * S

const admitted = async ({ charging }: TestGateway, ceiling = CEILING) => {
  const work = charging.open()
  await work.admit(FREE_PAYER, 'chat.create', ceiling)
  return work
}

test('billed() values running work at the tariff of its first admit', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF)
  const work = await admitted(gateway)
  await gateway.setTariff(5n * TARIFF)
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 3n * S })
  assert.deepEqual(gateway.charging.billed(), { chargedNs: 3n * S, accruedNj: 6n * S })
  assert.equal(work.settle(200).energy_nj, String(6n * S))
  assert.deepEqual(gateway.charging.billed(), { chargedNs: 3n * S, accruedNj: 6n * S })
})

test('billed() leaves upstreams out: they answer for themselves', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF)
  const work = await admitted(gateway)
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: S })
  const upstream = { kind: 'upstream', meter: 'upstream:b', method: 'model', bandPct: 40 } as const
  work.claim({ ...upstream, energyNj: nj(7n * S) })
  assert.equal(gateway.charging.billed().accruedNj, 2n * S)
  assert.equal(work.settle(200).energy_nj, String(9n * S))
  assert.equal(gateway.charging.billed().accruedNj, 2n * S)
})

test('billed() accrues at most what is held, running and settled', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF)
  const work = await admitted(gateway, nj(3n * S))
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 10n * S })
  assert.deepEqual(gateway.charging.billed(), { chargedNs: 10n * S, accruedNj: 3n * S })
  assert.equal(work.settle(200).energy_nj, String(3n * S))
  assert.deepEqual(gateway.charging.billed(), { chargedNs: 10n * S, accruedNj: 3n * S })
})

test('billed() counts refusals when their shared charge is journaled', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF)
  const refused = Array.from({ length: 5 }, () => gateway.charging.open())
  gateway.process.cpuNs += 1_000_000
  assert.equal(gateway.charging.billed().accruedNj, 0n)
  const stated = sum(refused.map((work) => chargeEnergy(work.settle(401))))
  gateway.charging.settleUnattributed()
  assert.ok(stated > 0n)
  assert.equal(gateway.charging.billed().accruedNj, stated)
})

test('billedGpu() is the part of the GPU, at most what is held beside the CPU', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF, 100n * S)
  const work = await admitted(gateway, nj(40n * S))
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 2n * S, gpuNs: S / 4n })
  assert.deepEqual(onGpu(gateway), { chargedNs: S / 4n, accruedNj: 25n * S })
  assert.equal(gateway.charging.billed().accruedNj, 4n * S)
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 2n * S, gpuNs: 3n * S })
  assert.equal(onGpu(gateway).accruedNj, 36n * S)
  const { parts, energy_nj: energyNj } = work.settle(200)
  assert.equal(energyNj, String(40n * S))
  assert.deepEqual(
    parts.map(({ meter, energy_nj: part }) => [meter, part]),
    [
      ['node', String(4n * S)],
      ['node:gpu', String(36n * S)],
    ],
  )
  assert.deepEqual(onGpu(gateway), { chargedNs: 3n * S, accruedNj: 36n * S })
})

test('at the limit of a hold neither of both falls, while the CPU goes on', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF, 100n * S)
  const { charging } = gateway
  const work = await admitted(gateway, nj(40n * S))
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 2n * S, gpuNs: S / 4n })
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 2n * S, gpuNs: S })
  const told = () => [charging.billed().accruedNj, onGpu(gateway).accruedNj]
  assert.deepEqual(told(), [4n * S, 36n * S])
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 5n * S, gpuNs: S })
  assert.deepEqual(told(), [4n * S, 36n * S])
  assert.equal(work.settle(200).energy_nj, String(40n * S))
  assert.deepEqual(told(), [4n * S, 36n * S])
})

test('a claim of the GPU uses the hold up, and cuts the work at its ceiling', async () => {
  await using gateway = await startTestGateway()
  await gateway.setTariff(TARIFF, 100n * S)
  const work = await admitted(gateway, nj(40n * S))
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 0n, gpuNs: S / 4n })
  const reason = () => work.cutReason?.code
  assert.equal(reason(), undefined)
  work.claim({ kind: 'cpu', cell: 'model-a', cpuNs: 0n, gpuNs: S / 2n })
  assert.equal(reason(), 'ceiling_reached')
})

const onGpu = ({ charging }: Pick<TestGateway, 'charging'>, cell = 'model-a') =>
  charging.billedGpu().get(cell) ?? NOTHING_BILLED

type Work = { work: Awaited<ReturnType<typeof admitted>>; cpuNs: bigint; gpuNs: bigint }
const sumOf = (parts: readonly { readonly energy_nj: string }[]) =>
  parts.reduce((all, { energy_nj: energyNj }) => all + BigInt(energyNj), 0n)

type Step =
  | { kind: 'mark' | 'refuse' | 'absorb' | 'settle'; which: number }
  | { kind: 'open'; ceilingJoules: number }
  | { kind: 'claim'; which: number; cpuNs: number; gpuNs: number }
  | { kind: 'tariff'; joules: number; gpuJoules: number | undefined }
const which = fc.nat(9)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('mark', 'refuse', 'absorb', 'settle'), which }),
  fc.record({ kind: fc.constant('open'), ceilingJoules: fc.integer({ min: 1, max: 100 }) }),
  fc.record({
    kind: fc.constant('claim'),
    which,
    cpuNs: fc.nat(5_000_000_000),
    gpuNs: fc.nat(5_000_000_000),
  }),
  fc.record({
    kind: fc.constant('tariff'),
    joules: fc.nat(9),
    gpuJoules: fc.option(fc.nat(20), { nil: undefined }),
  }),
)

test('billed() never falls, and at rest it is what the ledger was told', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    await using gateway = await startTestGateway()
    const { charging } = gateway
    await gateway.setTariff(TARIFF, 10n * TARIFF)
    const running: Work[] = []
    let before = charging.billed()
    let beforeGpu = onGpu(gateway)
    const neverFalls = () => {
      const now = charging.billed()
      assert.ok(now.chargedNs >= before.chargedNs && now.accruedNj >= before.accruedNj)
      before = now
      const gpu = onGpu(gateway)
      assert.ok(gpu.chargedNs >= beforeGpu.chargedNs && gpu.accruedNj >= beforeGpu.accruedNj)
      beforeGpu = gpu
    }
    for (const one of steps) {
      gateway.process.cpuNs += 12_345_000
      if (one.kind === 'tariff') {
        const { joules, gpuJoules } = one
        const gpu = gpuJoules === undefined ? undefined : BigInt(gpuJoules) * S
        await gateway.setTariff(BigInt(joules) * S, gpu)
      } else if (one.kind === 'open') {
        const work = await admitted(gateway, nj(BigInt(one.ceilingJoules) * S))
        running.push({ work, cpuNs: 0n, gpuNs: 0n })
      } else if (one.kind === 'refuse') {
        const nobody = charging.open()
        gateway.process.cpuNs += 500_000_000
        nobody.mark()
        neverFalls()
        nobody.settle(401)
      } else apply(one)
      neverFalls()
    }
    for (const { work } of running) work.settle(200)
    charging.settleUnattributed()
    assert.equal(charging.running, 0)
    await gateway.session.tickNow(AbortSignal.timeout(60_000))
    const told = sum(gateway.charges.map(chargeEnergy))
    assert.equal(charging.billed().accruedNj + onGpu(gateway).accruedNj, told)
    const gpuParts = gateway.charges
      .flatMap(({ parts }) => parts)
      .filter(({ method }) => method === 'nvml')
    assert.equal(onGpu(gateway).accruedNj, sumOf(gpuParts))

    function apply(one: Exclude<Step, { kind: 'tariff' | 'open' }>): void {
      const chosen = running[one.which % Math.max(1, running.length)]
      if (chosen === undefined) return
      if (one.kind === 'mark') chosen.work.mark()
      else if (one.kind === 'settle') chosen.work.settle(200)
      else if (one.kind === 'absorb') {
        if (chosen.work.settled === undefined) Object.assign(chosen, { cpuNs: 0n, gpuNs: 0n })
        chosen.work.absorb()
      } else if (one.kind === 'claim' && chosen.work.settled === undefined) {
        chosen.cpuNs += BigInt(one.cpuNs)
        chosen.gpuNs += BigInt(one.gpuNs)
        const { cpuNs, gpuNs } = chosen
        chosen.work.claim({ kind: 'cpu', cell: 'model-a', cpuNs, gpuNs })
      }
    }
  })
  await fc.assert(property, { numRuns: 60, seed: 7 })
})
