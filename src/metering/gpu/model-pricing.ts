// The price of work on a GPU: a tariff for each model. A second of steps of one model takes a tenth or ten times the
// energy of another model's, and the card tells their sum alone. In seconds with several models a regression of the
// sum on the time of each divides it. The tariff, the credit and the true-up of a model are then those of any meter.
import { present } from '#base/errors.ts'
import { nj, sum, type Nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { createRegression, type Regression } from '#metering/kalman.ts'
import { NS_PER_S } from '#metering/power.ts'
import type { Pricing, SplitWindow, UnsplitWindow } from '#metering/pricing.ts'
import {
  createTariff,
  isBusyEnough,
  modelKnown,
  type TariffDeps,
  type TariffMeter,
} from '#metering/tariff.ts'
import {
  addTrueUp,
  billedSince,
  NO_TRUE_UP,
  NOTHING_BILLED,
  trueUpOf,
  type Billed,
  type BilledByCell,
} from '#metering/true-up.ts'
import type { CellUse, EnergyOfTime, Share } from '#metering/window.ts'

/** More models than these have the first tariff, and a share by their time. */
export const MODELS_MAX = 64
/** Random walk of a rate in a window. A tariff follows its model faster; rates divide only the energy that models share. */
const WALK = 0.02
/** The energy of a second of steps was 304 to 358 J in the seconds of one load of an H200. */
const NOISE = 0.05
/** The least noise of a window of a second is this part of the first tariff: about 1 W of a large card. */
const NOISE_DIVISOR = 12
/** A window with less than this part of the reading's error says nothing: its idle power was not known. */
const ERROR_DIVISOR = 10n
/** Weights are integers: nanoseconds times thousandths of a joule a second. */
const WEIGHTS_PER_J = 1000
/**
 * The band of a learned division has two deviations of the rate, and its bill is a quarter of one below: at most a quarter
 * less, as with a credit.
 */
const DEVIATIONS = 2
const BELOW_DIVISOR = 4
/** The steps of a model follow each other: more time than this, in percent, is late time of another window. */
const LATE_PERCENT = 120n
const NJ_PER_J = 1e9

type PricedModel = {
  readonly tariff: TariffMeter
  /** Time of the last windows with steps, for the mean of the tariffs. */
  recentNs: bigint
  /** Its share of the last window in which it had steps: a bill may come a window after its steps. */
  lastSteps: StepsOfWindow
}

type StepsOfWindow = Pick<Share, 'dynamicNj' | 'cpuNs'>
const NO_STEPS: StepsOfWindow = { dynamicNj: nj(0n), cpuNs: 0n }

/** `billedByCell` are running totals of which none falls. */
export function createModelPricing(
  deps: TariffDeps & { readonly billedByCell: () => BilledByCell },
): Pricing {
  const models = new Map<string, PricedModel>()
  const shares = createModelShares(deps)
  const first = { njPerCpuS: deps.modelNjPerCpuS, known: modelKnown(deps) }
  let seen = deps.billedByCell()
  let totals = NO_TRUE_UP

  const follow = ({ cells }: SplitWindow) => {
    for (const name of models.keys())
      if (cells.every((cell) => cell.name !== name)) models.delete(name)
    for (const { name } of cells)
      if (!models.has(name) && models.size < MODELS_MAX)
        models.set(name, { tariff: createTariff(deps), recentNs: 0n, lastSteps: NO_STEPS })
  }
  const bills = (): BilledByCell => {
    const now = deps.billedByCell()
    const more = [...now].map(
      ([name, billed]) => [name, billedSince(billed, seen.get(name) ?? NOTHING_BILLED)] as const,
    )
    seen = now
    return new Map(more)
  }
  return {
    weigh: shares.weigh,
    close(window) {
      const more = bills()
      const used = new Map(window.shares.map((share) => [share.name, share]))
      const hasSteps = window.cells.some(({ cpuNs }) => cpuNs > 0n)
      const trueUpIn = (name: string, billed: Billed) =>
        trueUpOf(billed, billedSteps(used.get(name), models.get(name)?.lastSteps))
      // Models that have left may have a last bill.
      let closed = NO_TRUE_UP
      for (const [name, billed] of more) closed = addTrueUp(closed, trueUpIn(name, billed))
      follow(window)
      for (const [name, model] of models) {
        const share = present(used.get(name), 'a share of each cell')
        const billed = more.get(name) ?? NOTHING_BILLED
        observe(model.tariff, {
          window,
          share,
          billed,
          trueUpNj: trueUpIn(name, billed).trueUpNj,
          doubtPct: shares.doubtPct(name, window),
        })
        if (share.cpuNs > 0n) model.lastSteps = share
        if (hasSteps) model.recentNs = model.recentNs / 2n + share.cpuNs
      }
      totals = addTrueUp(totals, closed)
      const chargedNs = more.values().reduce((all, billed) => all + billed.chargedNs, 0n)
      return { chargedNs, accruedNj: closed.accruedNj, trueUpNj: closed.trueUpNj }
    },
    /** The mean of the models that had steps; the first tariff before any had. */
    get njPerCpuS() {
      return meanOf([...models.values()]) ?? first.njPerCpuS
    },
    /** Of the model with the widest band, of those that had steps. */
    get known() {
      return widestOf([...models.values()]) ?? first.known
    },
    get carriedNj() {
      return sum([...models.values()].map(({ tariff }) => tariff.carriedNj))
    },
    get cells() {
      return new Map([...models].map(([name, { tariff }]) => [name, tariff]))
    },
    others: first,
    get totals() {
      return totals
    },
  }
}

/** The steps that a bill of a window is for: those of the window, or else the last ones. */
function billedSteps(now: StepsOfWindow = NO_STEPS, last: StepsOfWindow = NO_STEPS) {
  const { dynamicNj, cpuNs: busyNs } = now.cpuNs > 0n ? now : last
  return { dynamicNj, busyNs }
}

/** The mean tariff by the time of the last steps; undefined where there were none. */
function meanOf(models: readonly PricedModel[]): bigint | undefined {
  const recentNs = models.reduce((ns, model) => ns + model.recentNs, 0n)
  if (recentNs === 0n) return undefined
  const energy = models.reduce((all, { tariff, recentNs: ns }) => all + tariff.njPerCpuS * ns, 0n)
  return energy / recentNs
}

/** The widest band of models that had steps. */
const widestOf = (models: readonly PricedModel[]): EnergyBand | undefined =>
  models
    .filter(({ recentNs }) => recentNs > 0n)
    .map(({ tariff }) => tariff.known)
    .toSorted((a, b) => b.bandPct - a.bandPct)[0]

/**
 * A window as the tariff of a model sees it: its own time, and a capacity that leaves the window as busy as it was. Where
 * the division is unsure, less is billed.
 */
function observe(
  tariff: TariffMeter,
  part: {
    readonly window: SplitWindow
    readonly share: Share
    readonly billed: Billed
    readonly trueUpNj: Nj
    readonly doubtPct: number
  },
): void {
  const { window, share, billed, trueUpNj, doubtPct } = part
  const { dynamicNj, cpuNs } = share
  const { busyNs, capacityNs } = window
  const surePct = BigInt(Math.ceil(100 - doubtPct / BELOW_DIVISOR))
  tariff.observe({
    ...window,
    ...billed,
    trueUpNj,
    busyNs: cpuNs,
    dynamicNj: nj((dynamicNj * surePct) / 100n),
    capacityNs: busyNs === 0n ? capacityNs : (capacityNs * cpuNs) / busyNs,
    bandPct: Math.min(100, window.bandPct + DEVIATIONS * doubtPct),
  })
}

/** The division of windows by learned rates, in joules per second of steps. */
function createModelShares({ modelNjPerCpuS, range }: TariffDeps) {
  const firstRate = Number(modelNjPerCpuS) / NJ_PER_J
  const noise = { relative: NOISE, least: firstRate / NOISE_DIVISOR }
  const walk = { relativeOf: () => WALK, leastOf: () => firstRate }
  const highest = Number(range?.[1] ?? modelNjPerCpuS) / NJ_PER_J
  let regression = createRegression(optionsWith([], []))

  function optionsWith(
    known: readonly (readonly [string, { readonly value: number; readonly deviation: number }])[],
    knownTogether: readonly (readonly [string, string, number])[],
  ) {
    return {
      known: Object.fromEntries(known),
      knownTogether,
      deviationFirst: highest,
      walk,
      noise,
      namesMax: MODELS_MAX,
    }
  }
  /** Forgets models that left, and gives those that are new the energy that the others do not explain, by their time. */
  const follow = (cells: readonly CellUse[], joules: number) => {
    const used = cells.filter(({ cpuNs }) => cpuNs > 0n)
    const names = [...regression.names].filter((name) => cells.some((cell) => cell.name === name))
    const fresh = used.filter(({ name }) => regression.rate(name) === undefined)
    if (fresh.length === 0 && names.length === [...regression.names].length) return
    const explained = used.reduce(
      (all, { name, cpuNs }) => all + seconds(cpuNs) * (regression.rate(name)?.value ?? 0),
      0,
    )
    const freshS = fresh.reduce((all, { cpuNs }) => all + seconds(cpuNs), 0)
    const value = Math.max(0, joules - explained) / freshS
    const deviation = value + Math.hypot(NOISE * joules, noise.least) / freshS
    const first = { value, deviation: Math.min(highest, deviation) }
    regression = createRegression(
      optionsWith(
        [
          ...names.map((name) => [name, present(regression.rate(name), 'a known rate')] as const),
          ...fresh.map(({ name }) => [name, first] as const),
        ],
        pairsOf(names).map(([a, b]) => [a, b, regression.covariance(a, b)] as const),
      ),
    )
  }
  return {
    weigh(window: UnsplitWindow, ofCells: EnergyOfTime): bigint[] {
      const { cells } = window
      const joules = Number(ofCells.dynamicNj) / NJ_PER_J
      if (tellsRates(window, ofCells)) {
        follow(cells, joules)
        regression.learn(new Map(cells.map(({ name, cpuNs }) => [name, seconds(cpuNs)])), joules)
      }
      return weightsOf(cells, regression)
    },
    /** The deviation of a model's share, in percent: none where no other model ran. */
    doubtPct(name: string, { cells }: UnsplitWindow): number {
      if (cells.filter(({ cpuNs }) => cpuNs > 0n).length < 2) return 0
      const { value, deviation } = regression.rate(name) ?? { value: 0, deviation: 0 }
      return value > 0 ? Math.min(100, Math.ceil((deviation * 100) / value)) : 100
    },
  }
}

function tellsRates(window: UnsplitWindow, { dynamicNj }: EnergyOfTime): boolean {
  const { cells, elapsedNs, errorNj, proportional } = window
  if (proportional || !isBusyEnough(window) || dynamicNj * ERROR_DIVISOR <= errorNj) return false
  return cells.every(({ cpuNs }) => cpuNs * 100n <= elapsedNs * LATE_PERCENT)
}

/** Time by rate. Where no rate is known of a model, or the rates of all are 0, time alone. */
function weightsOf(cells: readonly CellUse[], regression: Regression): bigint[] {
  const rates = cells.map(({ name }) => regression.rate(name)?.value)
  const known = rates.filter((rate) => rate !== undefined)
  const mean = known.reduce((all, rate) => all + rate, 0) / Math.max(1, known.length)
  return cells.map(({ cpuNs }, place) => {
    const milli = Math.round((rates[place] ?? mean) * WEIGHTS_PER_J)
    // One at least: a window in which no model has a weight would lose its energy.
    return cpuNs * BigInt(Math.max(1, milli))
  })
}

const seconds = (ns: bigint): number => Number(ns) / Number(NS_PER_S)

const pairsOf = (names: readonly string[]): (readonly [string, string])[] =>
  names.flatMap((a, place) => names.slice(place + 1).map((b) => [a, b] as const))
