// Models beside each other on a simulated card, with loads as an H200 had them. A second of steps of a large model takes
// thirty times the energy of a second of a small one. Eight clients of the small one take a third of that of one client.
import { energyOfCpu } from '#base/units.ts'
import { createNodeMeter } from '#metering/node-meter.ts'
import { addBilled, NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import { sumOfShares } from '#metering/window.ts'
import { createGpuModel } from './gpu-model.ts'
import type { GpuSource } from './nvidia-smi.ts'

const NS_PER_S = 1_000_000_000n
const NS_PER_MS = 1_000_000n
const IDLE_MILLIWATTS = 123_000n

/** Energy of a second of steps, either way: it was 304 to 358 J in the seconds of one load on an H200. */
const RATE_CHANGE = 0.08

/** Clients of a model in a span of seconds. */
export type GpuLoad = {
  readonly model: string
  readonly fromS: number
  readonly toS: number
  /** Time of steps in each second, and the true energy of a second of steps. */
  readonly stepMs: number
  readonly joulesPerS: number
  /** Change of that time from second to second, in percent either way. */
  readonly changePct?: number
}

/** The bills of a load, and the energy that its steps took. */
export type LoadBill = { readonly billedNj: bigint; readonly causedNj: bigint }

export type GpuRun = {
  /** Bill and cause of each load behind its first seconds. */
  readonly loads: readonly LoadBill[]
  readonly readingNj: bigint
  readonly billedNj: bigint
  /** The operator's part by the meter's own figures: reading less accrued bills. */
  readonly operatorNj: bigint
  readonly doesAddUp: boolean
  readonly tariffs: Readonly<Record<string, bigint>>
}

export type GpuRunOptions = {
  readonly loads: readonly GpuLoad[]
  readonly seed: number
  /** Seconds at the begin of a load that its bill leaves out. */
  readonly learnS: number
  /** One tariff for the card, as before models had their own. */
  readonly isOneTariff?: boolean
  /** Noise of a second's mean power, either way. */
  readonly noiseWatts?: number
}

/** Runs all seconds; each piece of a step is billed at the tariff of the window before. */
export async function runLoads(options: GpuRunOptions): Promise<GpuRun> {
  const { loads, seed, learnS, isOneTariff = false, noiseWatts = 2 } = options
  const random = randomOf(seed)
  const names = [...new Set(loads.map(({ model }) => model))]
  const bills = new Map<string, Billed>()
  const steps = new Map(names.map((name) => [name, 0n]))
  const state = { ms: 0, busyNs: 0n, milliwatts: IDLE_MILLIWATTS }
  const total = () => bills.values().reduce(addBilled, NOTHING_BILLED)
  const meter = createNodeMeter({
    meter: 'node:gpu',
    model: createGpuModel(CARD),
    sources: [sourceOf(state)],
    busyNs: () => state.busyNs,
    cells: () =>
      [...steps].map(([name, cpuNs]) => ({ name, payer: { kind: 'caller' } as const, cpuNs })),
    pueMilli: 1000n,
    clock: { wallMs: () => 1_800_000_000_000 + state.ms, monotonicMs: () => state.ms },
    ...(isOneTariff ? { billed: total } : { billedByCell: () => new Map(bills) }),
  })
  const tariffOf = (name: string) =>
    isOneTariff
      ? meter.tariffNjPerCpuS
      : (meter.tariffs.cells.get(name) ?? meter.tariffs.others).njPerCpuS
  const sums = loads.map(() => ({ billedNj: 0n, causedNj: 0n }))
  let [readingNj, accruedNj, doesAddUp] = [0n, 0n, true]
  const endS = Math.max(...loads.map(({ toS }) => toS))
  for (let second = 0; second < endS; second++) {
    let addedMilliwatts = 0
    for (const [nth, load] of loads.entries()) {
      if (second < load.fromS || second >= load.toS) continue
      const change = ((load.changePct ?? 10) / 100) * (2 * random() - 1)
      const stepMs = Math.round(load.stepMs * (1 + change))
      const stepNs = BigInt(stepMs) * NS_PER_MS
      const billedNj = energyOfCpu(stepNs, tariffOf(load.model))
      const before = bills.get(load.model) ?? NOTHING_BILLED
      bills.set(load.model, addBilled(before, { chargedNs: stepNs, accruedNj: billedNj }))
      steps.set(load.model, (steps.get(load.model) ?? 0n) + stepNs)
      state.busyNs += stepNs
      const joulesPerS = load.joulesPerS * (1 + RATE_CHANGE * (2 * random() - 1))
      addedMilliwatts += stepMs * joulesPerS
      const sum = sums[nth]
      if (sum === undefined || second < load.fromS + learnS) continue
      sum.billedNj += billedNj
      sum.causedNj += BigInt(Math.round(stepMs * joulesPerS * 1e6))
    }
    const noise = 1000 * noiseWatts * (2 * random() - 1)
    state.milliwatts = IDLE_MILLIWATTS + BigInt(Math.round(addedMilliwatts + noise))
    state.ms += 1000
    const window = await meter.closeWindow()
    doesAddUp &&= sumOfShares(window.shares) === window.readingNj
    readingNj += window.readingNj
    accruedNj += window.accruedNj
  }
  return {
    loads: sums,
    readingNj,
    billedNj: total().accruedNj,
    operatorNj: readingNj - accruedNj,
    doesAddUp,
    tariffs: Object.fromEntries(names.map((name) => [name, tariffOf(name) / NS_PER_S])),
  }
}

const CARD: Pick<GpuSource, 'cards' | 'idleMilliwatts' | 'ceilingMilliwatts'> = {
  cards: [{ uuid: 'GPU-1', name: 'NVIDIA X', driver: '1', limitMilliwatts: 700_000n }],
  idleMilliwatts: IDLE_MILLIWATTS,
  ceilingMilliwatts: () => 840_000n,
}

const sourceOf = (state: { readonly busyNs: bigint; readonly milliwatts: bigint }): GpuSource => ({
  ...CARD,
  name: 'nvidia-smi',
  method: 'nvml',
  bandPct: 1,
  errorMilliwatts: 5000n,
  milliwatts: 0n,
  forgetIdle: () => undefined,
  busyNs: () => state.busyNs,
  read: async () => ({ kind: 'power', milliwatts: state.milliwatts }),
  close: async () => undefined,
})

/** Mulberry32: the same figures for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
