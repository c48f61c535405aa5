// A node for tests of indirect CPU: one gateway's real bills by a real learner's rates, over cells whose true
// costs are known. Seconds pass as fast as they are computed.
import type { OperationName } from '#contract/operations.ts'
import {
  createIndirectLearner,
  type IndirectLearner,
  type IndirectWindow,
} from '#metering/indirect.ts'
import { NO_RATES } from '#metering/indirect.ts'
import { IndirectBills } from './indirect.ts'
import type { Tariff } from './tariff.ts'

const MS = 1e6
const SESSION = 'gw-1.1'

/** What an operation really costs, in milliseconds of CPU: in its own process, and in others. */
export type Truth = { readonly directMs: number; readonly indirectMs: number }

export type NodeOptions = {
  readonly truth: Readonly<Partial<Record<OperationName, Truth>>>
  readonly restMs: number
  readonly activeMs: number
  /** Between 0 and 1, evenly. */
  readonly random: () => number
  readonly learner?: IndirectLearner
}

export type SimulatedLoad = Readonly<Partial<Record<OperationName, number>>>

/** In nanoseconds of CPU. */
export type SimulatedBill = {
  /** Of all cells. */
  readonly cpuNs: number
  /** The same without rest. */
  readonly causedNs: number
  readonly directNs: number
  readonly indirectNs: number
}

export const testTariff = (over: Partial<Tariff> = {}): Tariff => ({
  meter: 'm1',
  method: 'model',
  bandPct: '40',
  njPerCpuS: 3_500_000_000n,
  pueMilli: '1000',
  routedTo: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
  indirect: NO_RATES,
  ...over,
})

export class TestNode {
  readonly learner: IndirectLearner
  readonly bills: IndirectBills
  /** A factor on all that operations cost elsewhere. */
  costs = 1
  readonly #options: NodeOptions
  #nowMs = 0
  #allowedNs: Readonly<Record<string, number>> = {}
  #chargedNs = 0
  /** Spent in the window after the request. */
  #late = 0

  constructor(options: NodeOptions) {
    this.#options = options
    this.learner = options.learner ?? createIndirectLearner()
    this.bills = new IndirectBills({ monotonicMs: () => this.#nowMs }, SESSION)
  }

  /** So many seconds of a load, given as requests a second. */
  run(seconds: number, load: SimulatedLoad = {}): SimulatedBill {
    let sum: SimulatedBill = { cpuNs: 0, causedNs: 0, directNs: 0, indirectNs: 0 }
    for (let second = 0; second < seconds; second++) {
      const bill = this.#second(load)
      sum = {
        cpuNs: sum.cpuNs + bill.cpuNs,
        causedNs: sum.causedNs + bill.causedNs,
        directNs: sum.directNs + bill.directNs,
        indirectNs: sum.indirectNs + bill.indirectNs,
      }
    }
    return sum
  }

  #second(load: SimulatedLoad): SimulatedBill {
    const { truth, restMs, activeMs } = this.#options
    const tariff = testTariff({ indirect: { ...this.learner.rates(), allowedNs: this.#allowedNs } })
    // The figures of a window reach the gateway a window later.
    this.#allowedNs = {
      [SESSION]: Number(this.bills.activity.indirectNs) + this.learner.creditNs,
    }
    let directNs = 0
    let billedNs = 0
    let caused = 0
    const requests = this.#requests(load)
    for (const [place, operation] of requests.entries()) {
      this.#nowMs += 1000 / (requests.length + 1)
      const bill = this.bills.of(tariff, operation)
      // Unattributed requests are counted, and nobody is billed.
      const cpuNs = operation === 'service.nobody' ? 0n : bill.cpuNs
      this.bills.settled(operation, bill, cpuNs)
      billedNs += Number(cpuNs)
      directNs += (truth[operation]?.directMs ?? 0) * MS
      caused += (truth[operation]?.indirectMs ?? 0) * MS * this.costs
      if (place === 0) caused += activeMs * MS
    }
    this.#nowMs = (Math.floor(this.#nowMs / 1000) + 1) * 1000
    caused *= this.#noise(0.1)
    const now = caused * 0.8 + this.#late
    this.#late = caused * 0.2
    const causedNs = Math.round(directNs + now)
    const cpuNs = causedNs + Math.round(restMs * MS * this.#noise(0.2))
    this.#chargedNs = directNs + billedNs
    this.#observe({
      elapsedNs: 1_000_000_000n,
      cpuNs: BigInt(cpuNs),
      chargedNs: BigInt(Math.round(this.#chargedNs)),
      activity: { ...this.bills.activity, operations: new Map(this.bills.activity.operations) },
    })
    return { cpuNs, causedNs, directNs, indirectNs: billedNs }
  }

  #observe(window: IndirectWindow): void {
    this.learner.observe(window)
  }

  /** Each as often as its rate says, on average, in random order. */
  #requests(load: SimulatedLoad): OperationName[] {
    const requests: OperationName[] = []
    for (const [operation, perSecond] of Object.entries(load) as [OperationName, number][]) {
      const count = Math.floor(perSecond * this.#noise(0.3) + this.#options.random())
      for (let left = count; left > 0; left--) requests.push(operation)
    }
    return requests.toSorted(() => this.#options.random() - 0.5)
  }

  #noise(part: number): number {
    return 1 + part * (2 * this.#options.random() - 1)
  }
}
