// Indirect CPU: the CPU that requests cause in shared cells. Gateways mark a request's own CPU, models claim
// theirs. The CPU of PostgreSQL, signers, sealer and upkeep is known only as a sum over all requests: the CPU of
// all cells minus the directly billed CPU. So it is learned. Three estimates, each on a slower scale than the next:
//
//   rates  of each operation, of an active second (its ticks and its seal are the same for one request and for
//          a hundred) and of rest: a regression of the sums over five windows on counts (kalman.ts)
//   level  how much of what the rates predict the last windows really had: rates fall where many requests
//          share a commit
//   credit the spent CPU that is not billed yet: gateways bill no more than the credit
//
// Never billed: rest, and what was not spent. The bill is a little below the learned CPU: it may
// fall short of the meter and must never exceed it.
import { createRegression, type Rate, type Regression } from './kalman.ts'

/** Totals of a node's gateways since they began; none may fall. */
export type Activity = {
  /** Number of settled requests of each operation. */
  readonly operations: ReadonlyMap<string, number>
  /** Seconds in which a gateway settled anything; two gateways have two. */
  readonly activeSeconds: number
  /** Indirect CPU that was billed. */
  readonly indirectNs: bigint
}

export const NO_ACTIVITY: Activity = { operations: new Map(), activeSeconds: 0, indirectNs: 0n }

/** The totals of one window. */
export type IndirectWindow = {
  readonly elapsedNs: bigint
  /** CPU of all cells that answer, and whose payer is the operator or a caller. */
  readonly cpuNs: bigint
  /** CPU that was billed, indirect CPU included. */
  readonly chargedNs: bigint
  readonly activity: Activity
}

/** The rates that gateways bill by, in nanoseconds of CPU; deviations are standard deviations. */
export type IndirectRates = {
  /** Thousandths of each rate that are billed now. */
  readonly levelMilli: number
  readonly activeSecond: Rate
  readonly operations: Readonly<Record<string, Rate>>
  /** A second of rest: never billed. */
  readonly rest: Rate
  /**
   * The greatest total of indirect CPU, in nanoseconds, that each session of a gateway may have billed since it
   * began. Absent: none.
   */
  readonly allowedNs?: Readonly<Record<string, number>>
}

const NOTHING: Rate = { value: 0, deviation: 0 }
export const NO_RATES: IndirectRates = {
  levelMilli: 1000,
  activeSecond: NOTHING,
  operations: {},
  rest: NOTHING,
}

export interface IndirectLearner {
  observe(window: IndirectWindow): void
  rates(): IndirectRates
  /** Changes with each window that had requests: then what is billed may have changed. */
  readonly revision: number
  /** CPU that was spent for requests and is not billed yet. */
  readonly creditNs: number
}

const MS = 1e6
/** Names of regressors that are no operation: operations have a dot. */
const REST = 'rest'
const ACTIVE = 'active'
const WINDOWS_PER_SUM = 5
const REGRESSION = {
  // In milliseconds of CPU. A sum has noise of 6 % (8 loads of two cores, 200 s), and 15 ms at rest.
  deviationFirst: 30,
  walk: 0.1,
  noise: { relative: 0.06, least: 15 },
  namesMax: 64,
}
/** Left to the operator: of indirect CPU, and of what is billed directly. */
const MARGIN = { indirect: 0.02, direct: 0.01 }
const LEVEL_MAX = 3
/** The level is of the last four windows, about. */
const DECAY = 4
const OUTLIER = 2
/** A deviation of the cost of rest below which that is known. */
const REST_KNOWN_MS = 10

/** Begins with the rates of an earlier life, where there are any. */
export function createIndirectLearner(earlier?: IndirectRates): IndirectLearner {
  const regression = createRegression({ ...REGRESSION, known: knownOf(earlier) })
  const level = createLevel((earlier?.levelMilli ?? 1000) / 1000)
  const learn = createSums(regression)
  let before = NO_ACTIVITY
  let revision = 0
  const valueOf = (name: string) => regression.rate(name)?.value ?? 0
  const inNs = (name: string): Rate => {
    const { value, deviation } = regression.rate(name) ?? NOTHING
    return { value: Math.round(value * MS), deviation: Math.round(deviation * MS) }
  }

  return {
    observe({ elapsedNs, cpuNs, chargedNs, activity }) {
      const counts = countsSince(before, activity)
      const billed = Number(activity.indirectNs - before.indirectNs) / MS
      before = activity
      const seconds = Number(elapsedNs) / 1e9
      const costMs = Number(cpuNs - chargedNs) / MS + billed
      const directMs = Number(chargedNs) / MS - billed
      let predicted = 0
      for (const [name, count] of counts) predicted += valueOf(name) * count
      // Below zero where a claim comes a window after its CPU: the window before had too much then.
      const beyondRestMs = costMs - valueOf(REST) * seconds
      const spent = beyondRestMs * (1 - MARGIN.indirect) - directMs * MARGIN.direct
      level.follow({ spent, predicted, billed })
      if (counts.size > 0) revision++
      if (learn(counts.set(REST, seconds), costMs)) revision++
    },
    rates() {
      const names = [...regression.names].filter((name) => name !== REST && name !== ACTIVE)
      return {
        levelMilli: Math.round(level.value * 1000),
        activeSecond: inNs(ACTIVE),
        operations: Object.fromEntries(names.map((name) => [name, inNs(name)])),
        rest: inNs(REST),
      }
    },
    get revision() {
      return revision
    },
    get creditNs() {
      return Math.floor(level.creditMs * MS)
    },
  }
}

/** Gives the regression sums over some windows; says whether requests were learned from. */
function createSums(regression: Regression) {
  let counts = new Map<string, number>()
  let costMs = 0
  let windows = 0
  return (more: ReadonlyMap<string, number>, moreMs: number): boolean => {
    for (const [name, count] of more) counts.set(name, (counts.get(name) ?? 0) + count)
    costMs += moreMs
    if (++windows < WINDOWS_PER_SUM) return false
    const { value = 0, deviation = Infinity } = regression.rate(REST) ?? {}
    const hasRequests = counts.size > 1
    // Under load, what rest costs cannot be told from what requests do: it is learned where there are none.
    if (hasRequests && deviation < REST_KNOWN_MS) {
      costMs -= value * (counts.get(REST) ?? 0)
      counts.delete(REST)
    }
    regression.learn(counts, costMs)
    counts = new Map()
    costMs = 0
    windows = 0
    return hasRequests
  }
}

/** A window's spent CPU beyond rest, its predicted and its billed CPU, in milliseconds. */
type Followed = { readonly spent: number; readonly predicted: number; readonly billed: number }

/** The billed part of the rates, and the CPU that is not billed yet. */
function createLevel(first: number) {
  let value = first
  let spentMs = 0
  let predictedMs = 0
  let creditMs = 0
  let beforeMs = 0
  return {
    get value() {
      return value
    },
    get creditMs() {
      return Math.max(0, creditMs)
    },
    follow({ spent, predicted, billed }: Followed): void {
      // A window that is far off was spent on something else: an index that was cleaned, a model that was loaded.
      const own = Math.min(spent, OUTLIER * Math.max(predicted, predictedMs / DECAY))
      creditMs += own - billed
      if (predicted > 0) {
        // Two windows: their figures reach the gateways so late. Older credit was caused by callers who
        // may have left, and others must not pay for it.
        creditMs = Math.min(creditMs, Math.max(0, own + beforeMs))
        beforeMs = own
      }
      // A rate that is far too high, as one learned of few requests may be, says nothing of the others.
      if (predicted > OUTLIER * Math.max(spent, spentMs / DECAY) && spentMs > 0) return
      predictedMs += predicted - predictedMs / DECAY
      spentMs += own - spentMs / DECAY
      if (predicted > 0) value = Math.max(0, Math.min(LEVEL_MAX, spentMs / predictedMs))
    },
  }
}

/** The totals of two processes. */
export function addActivity(a: Activity, b: Activity): Activity {
  const operations = new Map(a.operations)
  for (const [name, count] of b.operations)
    operations.set(name, (operations.get(name) ?? 0) + count)
  return {
    operations,
    activeSeconds: a.activeSeconds + b.activeSeconds,
    indirectNs: a.indirectNs + b.indirectNs,
  }
}

function countsSince(before: Activity, now: Activity): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [name, count] of now.operations) {
    const more = count - (before.operations.get(name) ?? 0)
    if (more > 0) counts.set(name, more)
  }
  const active = now.activeSeconds - before.activeSeconds
  if (active > 0) counts.set(ACTIVE, active)
  return counts
}

const knownOf = (earlier: IndirectRates | undefined): Record<string, Rate> => {
  if (earlier === undefined) return {}
  const inMs = ({ value, deviation }: Rate) => ({ value: value / MS, deviation: deviation / MS })
  const { rest, activeSecond, operations } = earlier
  return {
    [REST]: inMs(rest),
    [ACTIVE]: inMs(activeSecond),
    ...Object.fromEntries(Object.entries(operations).map(([name, rate]) => [name, inMs(rate)])),
  }
}
