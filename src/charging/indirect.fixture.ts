// A node for tests of indirect CPU: one gateway's real bills by a real learner's rates, over cells whose true
// costs are known. Seconds pass as fast as they are computed.
import type { OperationName } from '#contract/operations.ts'
import {
  createIndirectLearner,
  NO_ACTIVITY,
  type Activity,
  type IndirectLearner,
  type IndirectWindow,
} from '#metering/indirect.ts'
import { NO_RATES, type IndirectRates } from '#contract/ledger/indirect-rates.ts'
import type { OperationRate } from '#contract/ledger/stored-rates.ts'
import { NOTHING_BILLED } from '#metering/true-up.ts'
import type { UpkeepWork } from '#metering/upkeep.ts'
import { createBills } from '#node/meter/gateway-bills.ts'
import { IndirectBills } from './indirect.ts'
import type { Tariff } from './tariff.ts'

const MS = 1e6
const SESSION = 'gw-1.1'

/** The true cost of a class of requests, in milliseconds of CPU: in its own process, and in others. */
export type Truth = {
  readonly directMs: number
  readonly indirectMs: number
  /** Units of work in one request, with that cost elsewhere each, done one group a second; one when absent. */
  readonly units?: number
  /** The cost of the first unit, where further units cost another amount. */
  readonly firstMs?: number
  /** The class's own name when absent. */
  readonly operation?: OperationName
}

export type NodeOptions = {
  readonly truth: Readonly<Record<string, Truth>>
  readonly restMs: number
  readonly activeMs: number
  /** Between 0 and 1, evenly. */
  readonly random: () => number
  readonly learner?: IndirectLearner
  /** Requests of a class differ in their own CPU by this part, up and down. */
  readonly ownNoise?: number
  /** Planted: the units of a request are not counted. */
  readonly isBlind?: boolean
  /** Processes beside the gateway that bill, and settle nothing. */
  readonly idleProcesses?: number
  /** Units that a request does in a second: a longer request runs for several. */
  readonly unitsPerS?: number
  /** Planted: the agent does not know of upkeep. */
  readonly isUpkeepHidden?: boolean
}

/** Upkeep of each second, in milliseconds of CPU. */
export type SimulatedUpkeep = {
  /** The process of upkeep uses it. */
  readonly ownMs: number
  /** The whole state uses it. */
  readonly cpuMs: number
  /** The part of it that its connections use, which is measured. */
  readonly connectionsMs: number
}

const UNITS_PER_S = 250

/** A request that runs over seconds. */
type LongRequest = {
  readonly name: string
  readonly kind: Truth
  leftUnits: number
  doneUnits: number
  takenNs: bigint
}

/** Requests a second of each class. */
export type SimulatedLoad = Readonly<Record<string, number>>

/** The bill of one class, in nanoseconds of CPU. */
type ClassBill = { readonly causedNs: number; readonly billedNs: number }

/** In nanoseconds of CPU. */
export type SimulatedBill = {
  /** CPU of all cells. */
  readonly cpuNs: number
  /** The same without rest. */
  readonly causedNs: number
  readonly directNs: number
  readonly indirectNs: number
  readonly classes: ReadonlyMap<string, ClassBill>
}

const NO_BILL: SimulatedBill = {
  cpuNs: 0,
  causedNs: 0,
  directNs: 0,
  indirectNs: 0,
  classes: new Map(),
}

const addBills = (a: SimulatedBill, b: SimulatedBill): SimulatedBill => {
  const classes = new Map(a.classes)
  for (const [name, { causedNs, billedNs }] of b.classes) {
    const before = classes.get(name) ?? { causedNs: 0, billedNs: 0 }
    classes.set(name, {
      causedNs: before.causedNs + causedNs,
      billedNs: before.billedNs + billedNs,
    })
  }
  return {
    cpuNs: a.cpuNs + b.cpuNs,
    causedNs: a.causedNs + b.causedNs,
    directNs: a.directNs + b.directNs,
    indirectNs: a.indirectNs + b.indirectNs,
    classes,
  }
}

/** Published rates of operations whose requests cost the same whatever their size. */
export const rateOf = (value: number, deviation = 0): OperationRate => ({
  value,
  deviation,
  own: { value: 0, deviation: 0 },
  covariances: {
    requestOwn: 0,
    requestActive: 0,
    ownActive: 0,
    requestUnit: 0,
    ownUnit: 0,
    unitActive: 0,
  },
})

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
  readonly #all = createBills()
  /** A factor on all that operations cost elsewhere. */
  costs = 1
  /** Asked for each second that is run. */
  upkeep: () => SimulatedUpkeep = () => ({ ownMs: 0, cpuMs: 0, connectionsMs: 0 })
  readonly #options: NodeOptions
  #nowMs = 0
  #totals: Pick<IndirectRates, 'allowedNs' | 'seenAheadNs'> = {}
  #chargedNs = 0
  #revision = -1
  #long: LongRequest[] = []
  /** Spent in the window after the request. */
  #late = 0

  constructor(options: NodeOptions) {
    this.#options = options
    this.learner = options.learner ?? createIndirectLearner()
    this.bills = new IndirectBills({ monotonicMs: () => this.#nowMs }, SESSION)
  }

  /** So many seconds of a load, given as requests a second. */
  run(seconds: number, load: SimulatedLoad = {}): SimulatedBill {
    let sum = NO_BILL
    for (let second = 0; second < seconds; second++) sum = addBills(sum, this.#second(load))
    return sum
  }

  #second(load: SimulatedLoad): SimulatedBill {
    const { truth, restMs, activeMs } = this.#options
    const tariff = testTariff({ indirect: { ...this.learner.rates(), ...this.#totals } })
    // The figures of a window reach the gateway a window later, where they are published.
    if (this.learner.revision !== this.#revision) {
      this.#revision = this.learner.revision
      this.#totals = this.#divide()
    }
    let directNs = 0
    let billedNs = 0
    let caused = 0
    let causedByUnits = 0
    const requests = this.#requests(load)
    const classes = new Map<string, { causedNs: number; billedNs: number }>()
    for (const [place, name] of requests.entries()) {
      const kind = truth[name]
      const operation = kind?.operation ?? (name as OperationName)
      if (kind?.units !== undefined) {
        const { units: leftUnits } = kind
        this.#long.push({ name, kind, leftUnits, doneUnits: 0, takenNs: 0n })
        continue
      }
      this.#nowMs += 1000 / (requests.length + 1)
      const ownNs = (kind?.directMs ?? 0) * MS * this.#noise(this.#options.ownNoise ?? 0)
      const bill = this.bills.of(tariff, operation, { ownNs, units: 0, takenNs: 0n })
      // Unattributed requests are counted, and nobody is billed.
      const cpuNs = operation === 'service.nobody' ? 0n : bill.cpuNs
      this.bills.settled(operation, bill, cpuNs)
      billedNs += Number(cpuNs)
      directNs += ownNs
      const causes = (kind?.indirectMs ?? 0) * MS * this.costs
      caused += causes
      if (place === 0) caused += activeMs * MS
      const before = classes.get(name) ?? { causedNs: 0, billedNs: 0 }
      const shareNs = (activeMs * MS) / requests.length
      classes.set(name, {
        causedNs: before.causedNs + ownNs + causes + shareNs,
        billedNs: before.billedNs + ownNs + Number(cpuNs),
      })
    }
    for (const one of this.#long) {
      const done = this.#go(tariff, one)
      causedByUnits += done.causedNs
      directNs += done.ownNs
      billedNs += done.billedNs
      const before = classes.get(one.name) ?? { causedNs: 0, billedNs: 0 }
      classes.set(one.name, {
        causedNs: before.causedNs + done.causedNs + done.ownNs,
        billedNs: before.billedNs + done.billedNs + done.ownNs,
      })
    }
    this.#long = this.#long.filter(({ leftUnits }) => leftUnits > 0)
    this.#nowMs = (Math.floor(this.#nowMs / 1000) + 1) * 1000
    caused *= this.#noise(0.1)
    // The statement of units runs while the request waits; commits and seals come later.
    const now = caused * 0.8 + this.#late + (causedByUnits && causedByUnits * this.#noise(0.1))
    this.#late = caused * 0.2
    const causedNs = Math.round(directNs + now)
    const upkeep = this.#upkeep()
    const cpuNs = causedNs + Math.round(restMs * MS * this.#noise(0.2) + upkeep.cpuNs)
    this.#chargedNs = directNs + billedNs
    this.#observe({
      elapsedNs: 1_000_000_000n,
      cpuNs: BigInt(cpuNs),
      chargedNs: BigInt(Math.round(this.#chargedNs)),
      activity: this.bills.activity,
      ...(this.#options.isUpkeepHidden === true ? {} : { upkeep: upkeep.told }),
    })
    return { cpuNs, causedNs, directNs, indirectNs: billedNs, classes }
  }

  /** The agent's division of the credit among all processes that bill. */
  #divide(): Pick<IndirectRates, 'allowedNs' | 'seenAheadNs'> {
    const { idleProcesses = 0 } = this.#options
    const activities = new Map<string, Activity>([['gw-1', this.bills.activity]])
    for (let nth = 1; nth <= idleProcesses; nth++) activities.set(`idle-${nth}`, NO_ACTIVITY)
    for (const [cell, activity] of activities)
      this.#all.take(cell, {
        ...NOTHING_BILLED,
        session: `${cell}.1`,
        gpu: new Map(),
        activity,
      })
    this.#all.divide(new Set(activities.keys()))
    return {
      allowedNs: this.#all.allowedNs(this.learner.creditNs),
      seenAheadNs: this.#all.seenAheadNs(),
    }
  }

  /** A second of a long request; its own CPU comes at its end. */
  #go(tariff: Tariff, one: LongRequest) {
    const { name, kind } = one
    const operation = kind.operation ?? (name as OperationName)
    const { isBlind = false, unitsPerS = UNITS_PER_S } = this.#options
    const units = Math.min(unitsPerS, one.leftUnits)
    one.leftUnits -= units
    const before = one.takenNs
    const isFirst = one.doneUnits === 0
    const beyondMs = isFirst ? (kind.firstMs ?? kind.indirectMs) - kind.indirectMs : 0
    const causedNs = (units * kind.indirectMs + beyondMs) * MS * this.costs
    one.doneUnits += units
    const workOf = (ownNs: number) => ({
      ownNs,
      units: isBlind ? 0 : one.doneUnits - 1,
      takenNs: one.takenNs,
    })
    const done = { count: isFirst ? units - 1 : units, elapsedMs: 1000 }
    // The keys are read and judged before their statements.
    const ownNs = kind.directMs * MS
    if (!isBlind) one.takenNs = this.bills.grow(tariff, operation, done, workOf(ownNs))
    if (one.leftUnits > 0) return { causedNs, ownNs: 0, billedNs: Number(one.takenNs - before) }
    const bill = this.bills.of(tariff, operation, workOf(ownNs))
    this.bills.settled(operation, bill, bill.cpuNs - one.takenNs)
    return { causedNs, ownNs, billedNs: Number(bill.cpuNs - before) }
  }

  #upkeep(): { readonly cpuNs: number; readonly told: UpkeepWork } {
    const { ownMs, cpuMs, connectionsMs } = this.upkeep()
    const noise = cpuMs && this.#noise(0.1)
    const cpuNs = (ownMs + cpuMs * noise) * MS
    return { cpuNs, told: { ownNs: ownMs * MS, stateNs: connectionsMs * noise * MS } }
  }

  #observe(window: IndirectWindow): void {
    this.learner.observe(window)
  }

  /** Each as often as its rate says, on average, in random order. */
  #requests(load: SimulatedLoad): string[] {
    const requests: string[] = []
    for (const [name, perSecond] of Object.entries(load)) {
      const count = Math.floor(perSecond * this.#noise(0.3) + this.#options.random())
      for (let left = count; left > 0; left--) requests.push(name)
    }
    return requests.toSorted(() => this.#options.random() - 0.5)
  }

  #noise(part: number): number {
    return 1 + part * (2 * this.#options.random() - 1)
  }
}

export const MINUTE = 60
export const REST = { activeMs: 50, restMs: 28 }

/** Even numbers between 0 and 1 that follow from a seed: mulberry32, without a pattern from call to call. */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The billed percentage of all that was caused. */
export const shareOf = ({ directNs, indirectNs, causedNs }: SimulatedBill): number =>
  (100 * (directNs + indirectNs)) / causedNs

/** A learner with something wrong. */
export const plantedLearner = (
  real: IndirectLearner,
  wrong: Partial<IndirectLearner>,
): IndirectLearner => ({
  observe: (window) => real.observe(window),
  rates: () => real.rates(),
  get revision() {
    return real.revision
  },
  get creditNs() {
    return real.creditNs
  },
  ...wrong,
})
