// Indirect CPU: the CPU that requests cause in shared cells. Gateways mark a request's own CPU, models claim
// theirs. The CPU of PostgreSQL, signers, sealer and upkeep is known only as a sum over all requests: the CPU of
// all cells minus the directly billed CPU. So it is learned. Three estimates, each on a slower scale than the next.
//
//   rates  of each operation, of an active second (its ticks and its seal are the same for one request and for
//          a hundred) and of rest. A regression of the sums over five windows (kalman.ts) on counts and on the
//          requests' own CPU, which tells a large request from a small one.
//   level  how much of what the rates predict the last windows really had: rates fall where many requests
//          share a commit.
//   credit the spent CPU that is not billed yet: gateways bill no more than the credit.
//
// Rates are billed half a deviation below their value, and the level is the spent CPU by the sum of these bills. The sum of
// their deviations is above the deviation of all, so a level by the rates of all would be too low.
//
// Never billed: CPU that was not spent. Rest is not billed once it is known, after 30 quiet seconds. Upkeep is a regressor of
// its own (upkeep.ts) that nobody is billed for. Its measured CPU is taken off, or more where more is learned, and in its
// seconds some CPU beyond the learned rates of requests. The bill is a little below the learned CPU: it may fall short of the meter and must never exceed it.
import type { IndirectRates } from '#contract/ledger/indirect-rates.ts'
import type { OperationRate } from '#contract/ledger/stored-rates.ts'
import { createLevel } from './indirect-level.ts'
import { isUnit, unitOf } from './indirect-part.ts'
import { createSums, REST_SECOND } from './indirect-sums.ts'
import { createRegression, type Rate, type RegressionOptions } from './kalman.ts'
import { windowPart } from './paying-part.ts'
import {
  NO_UPKEEP,
  UPKEEP,
  UPKEEP_FIRST,
  UPKEEP_UNIT_MS,
  upkeepMsOf,
  type UpkeepWork,
} from './upkeep.ts'

/** The settled requests of an operation, or units of work beyond them. */
export type OperationUsage = {
  readonly requests: number
  /** CPU of their own process, which tells a large request from a small one. */
  readonly ownNs: number
}

/** Totals of a node's gateways since they began; none may fall. */
export type Activity = {
  readonly operations: ReadonlyMap<string, OperationUsage>
  /** Seconds in which a gateway settled anything; two gateways have two. */
  readonly activeSeconds: number
  /** Indirect CPU by the rates: bills before the level and before what a session is allowed. */
  readonly rateNs: bigint
  /** Indirect CPU that was billed. */
  readonly indirectNs: bigint
  /** The part of it that was billed before a window had seen it spent. */
  readonly aheadNs: bigint
}

export const NO_ACTIVITY: Activity = {
  operations: new Map(),
  activeSeconds: 0,
  rateNs: 0n,
  indirectNs: 0n,
  aheadNs: 0n,
}
const NO_USAGE: OperationUsage = { requests: 0, ownNs: 0 }

/** The totals of one window. */
export type IndirectWindow = {
  readonly elapsedNs: bigint
  /** CPU of all cells that answer, and whose payer is the operator or a caller. */
  readonly cpuNs: bigint
  /** CPU that was billed, indirect CPU included. */
  readonly chargedNs: bigint
  readonly activity: Activity
  /** In this window; absent: none. */
  readonly upkeep?: UpkeepWork
}

export interface IndirectLearner {
  observe(window: IndirectWindow): void
  rates(): IndirectRates
  /** Changes with each window that had requests or moved the credit: then what is billed may have changed. */
  readonly revision: number
  /** CPU that was spent for requests and is not billed yet; below zero where more was billed ahead of the windows. */
  readonly creditNs: number
}

const MS = 1e6
/** The regressor of seconds with requests. Names of operations have a dot. */
const ACTIVE = 'active'
/** The regressor of the own CPU of an operation's requests, counted in units of this number of milliseconds. */
const ownOf = (operation: string) => `${operation} own`
const isOwn = (name: string) => name.endsWith(' own')
const OWN_UNIT_MS = 10
const REGRESSION = {
  // In milliseconds of CPU. A sum has noise of 6 % (8 loads of two cores, 200 s), and 15 ms at rest.
  deviationFirst: 30,
  // A request costs a hundred times a unit: a row that is read, a key that is removed.
  // Upkeep in each second cannot be told from rest or from a steady load, so its rate moves slowly.
  walk: {
    relativeOf: (name: string) => (name === UPKEEP ? 0.03 : 0.1),
    leastOf: (name: string) => (name === UPKEEP ? UPKEEP_UNIT_MS : isUnit(name) ? 0.003 : 0.3),
  },
  noise: { relative: 0.06, least: 15 },
  // Three names for each operation of the contract, at most. With 128 every operation after the 63rd was billed nothing.
  namesMax: 1024,
}
/** CPU beyond the learned rates is taken for work that upkeep leaves to others, up to so many times its measured CPU. */
const UPKEEP_MORE_MAX = 3
/** Left to the operator: of indirect CPU, and of the CPU that is billed directly. */
const MARGIN = { indirect: 0.02, direct: 0.01 }
/** Credit that falls at rest is published anew in such steps. */
const CREDIT_STEP_MS = 1

/** Begins with the rates of an earlier life, where there are any. */
export function createIndirectLearner(earlier?: IndirectRates): IndirectLearner {
  const regression = createRegression({ ...REGRESSION, ...knownOf(earlier) })
  const level = createLevel((earlier?.levelMilli ?? 1000) / 1000)
  const learn = createSums(regression)
  let before = NO_ACTIVITY
  let revision = 0
  /** The credit at the last revision. */
  let revisedMs = 0
  const valueOf = (name: string) => regression.rate(name)?.value ?? 0
  const inNs = (name: string, unit = MS): Rate => {
    const { value, deviation } = regression.rate(name) ?? { value: 0, deviation: 0 }
    return { value: Math.round(value * unit), deviation: Math.round(deviation * unit) }
  }
  const covariance = (a: string, b: string, unit: number) =>
    Math.round(regression.covariance(a, b) * unit)
  const rateOf = (name: string): OperationRate => ({
    ...inNs(name),
    own: inNs(ownOf(name), MS / OWN_UNIT_MS),
    covariances: {
      requestOwn: covariance(name, ownOf(name), MS ** 2 / OWN_UNIT_MS),
      requestActive: covariance(name, ACTIVE, MS ** 2),
      ownActive: covariance(ownOf(name), ACTIVE, MS ** 2 / OWN_UNIT_MS),
      requestUnit: covariance(name, unitOf(name), MS ** 2),
      ownUnit: covariance(ownOf(name), unitOf(name), MS ** 2 / OWN_UNIT_MS),
      unitActive: covariance(unitOf(name), ACTIVE, MS ** 2),
    },
  })

  const rates = () => {
    const names = [...regression.names].filter((name) => name.includes('.') && !isOwn(name))
    return {
      levelMilli: Math.round(level.value * 1000),
      activeSecond: inNs(ACTIVE),
      operations: Object.fromEntries(names.map((name) => [name, rateOf(name)])),
      rest: inNs(REST_SECOND),
      upkeep: inNs(UPKEEP),
    }
  }

  return {
    rates,
    observe({ elapsedNs, cpuNs, chargedNs, activity, upkeep = NO_UPKEEP }) {
      const counts = countsSince(before, activity)
      const billed = Number(activity.indirectNs - before.indirectNs) / MS
      const predicted = Number(activity.rateNs - before.rateNs) / MS
      before = activity
      const seconds = Number(elapsedNs) / 1e9
      const costMs = (Number(cpuNs - chargedNs) - upkeep.ownNs) / MS + billed
      const directMs = Number(chargedNs) / MS - billed
      // Below zero where a claim comes a window after its CPU: the window before had too much then.
      const workMs = costMs - valueOf(REST_SECOND) * seconds
      const beyondRestMs = workMs - upkeepMsOf(upkeep, valueOf(UPKEEP), workMs)
      const spent = beyondRestMs * (1 - MARGIN.indirect) - directMs * MARGIN.direct
      const { payingMs, unpaidMs, payingOf } = windowPart(counts, regression, ACTIVE)
      const beyondMs = Math.max(0, spent - payingMs - unpaidMs)
      const dearerMs = Math.min(beyondMs, (UPKEEP_MORE_MAX * upkeep.stateNs) / MS)
      level.follow({ spent: payingOf(spent - dearerMs), predicted, billed })
      const isMoved = counts.size > 0 || Math.abs(level.creditMs - revisedMs) >= CREDIT_STEP_MS
      if (upkeep.stateNs > 0) counts.set(UPKEEP, upkeep.stateNs / MS / UPKEEP_UNIT_MS)
      const isLearned = learn(counts.set(REST_SECOND, seconds), costMs)
      if (!isMoved && !isLearned) return
      revision++
      revisedMs = level.creditMs
    },
    get revision() {
      return revision
    },
    get creditNs() {
      return Math.floor(level.creditMs * MS)
    },
  }
}

/** The totals of two processes. */
export function addActivity(a: Activity, b: Activity): Activity {
  const operations = new Map(a.operations)
  for (const [name, { requests, ownNs }] of b.operations) {
    const before = operations.get(name) ?? NO_USAGE
    operations.set(name, { requests: before.requests + requests, ownNs: before.ownNs + ownNs })
  }
  return {
    operations,
    activeSeconds: a.activeSeconds + b.activeSeconds,
    rateNs: a.rateNs + b.rateNs,
    indirectNs: a.indirectNs + b.indirectNs,
    aheadNs: a.aheadNs + b.aheadNs,
  }
}

function countsSince(before: Activity, now: Activity): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [name, { requests, ownNs }] of now.operations) {
    const earlier = before.operations.get(name) ?? NO_USAGE
    if (requests === earlier.requests) continue
    counts.set(name, requests - earlier.requests)
    counts.set(ownOf(name), (ownNs - earlier.ownNs) / MS / OWN_UNIT_MS)
  }
  const active = now.activeSeconds - before.activeSeconds
  if (active > 0) counts.set(ACTIVE, active)
  return counts
}

function knownOf(
  earlier: IndirectRates | undefined,
): Pick<RegressionOptions, 'known' | 'knownTogether'> {
  if (earlier === undefined) return { known: { [UPKEEP]: UPKEEP_FIRST } }
  const inMs = ({ value, deviation }: Rate, unit = MS) => ({
    value: value / unit,
    deviation: deviation / unit,
  })
  const known: Record<string, Rate> = {
    [REST_SECOND]: inMs(earlier.rest),
    [ACTIVE]: inMs(earlier.activeSecond),
    [UPKEEP]: earlier.upkeep === undefined ? UPKEEP_FIRST : inMs(earlier.upkeep),
  }
  const together: [string, string, number][] = []
  for (const [name, rate] of Object.entries(earlier.operations)) {
    const own = ownOf(name)
    known[name] = inMs(rate)
    known[own] = inMs(rate.own, MS / OWN_UNIT_MS)
    const { requestOwn, requestActive, ownActive, requestUnit, ownUnit, unitActive } =
      rate.covariances
    const unit = unitOf(name)
    together.push(
      [name, own, (requestOwn * OWN_UNIT_MS) / MS ** 2],
      [name, ACTIVE, requestActive / MS ** 2],
      [own, ACTIVE, (ownActive * OWN_UNIT_MS) / MS ** 2],
      [name, unit, requestUnit / MS ** 2],
      [own, unit, (ownUnit * OWN_UNIT_MS) / MS ** 2],
      [unit, ACTIVE, unitActive / MS ** 2],
    )
  }
  return { known, knownTogether: together }
}
