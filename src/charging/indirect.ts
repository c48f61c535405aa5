// The part of a charge for CPU that the request causes in shared cells: PostgreSQL, signers, sealer, upkeep. The agent
// learns the rates (metering/indirect.ts) from the counts that are kept here.
//
// An active second costs the same for one request as for a hundred: each takes its share of a pot, which gets
// the cost of a second when one begins. So no more is ever billed than there were active seconds.
import type { Clock } from '#base/clock.ts'
import { learnedPartOf, UNATTRIBUTED, unitOf, type CausingSize } from '#metering/indirect-part.ts'
import type { Activity } from '#metering/indirect.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Tariff } from './tariff.ts'

/** Indirect CPU on the bill of one piece of work. */
export type Indirect = {
  readonly cpuNs: bigint
  /** The error band of `cpuNs`, which includes that of the tariff. */
  readonly bandPct: number
  /** The share of an active second, of the pot at most; no level has limited it. */
  readonly shareNs: number
  /** CPU of the work in its own process. */
  readonly ownNs: number
  /** The least that the rates of the operation give, without its units. */
  readonly rateNs: bigint
}

/** Work as it stands. */
export type CausingWork = {
  /** CPU of its own process. */
  readonly ownNs: number
  /** Units of work beyond the request itself: the further keys of a deletion. */
  readonly units: number
  /** Nanoseconds of indirect CPU that the request has been billed already. */
  readonly takenNs: bigint
}

/** Units that running work has just done. */
export type DoneUnits = {
  readonly count: number
  /** The time of the statement that did them: one process of the state has spent no more CPU. */
  readonly elapsedMs: number
}

/** The pot holds the cost of so many seconds at most. */
const POT_SECONDS_MAX = 4
/** Active seconds over which the requests of a second are averaged. */
const DECAY = 4
/** Billed ahead of the windows and not seen by the agent, with the debt: rates that are too high end there. */
const AHEAD_MAX_NS = 1_000_000_000n
const NS_PER_MS = 1_000_000
/** Seconds without a request after which the next one is the first again. */
const PAUSE_S = 10
/** Standard deviations of a band: 19 of 20 are within. */
const DEVIATIONS = 2

export class IndirectBills {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #session: string
  readonly #operations = new Map<string, { requests: number; ownNs: number }>()
  #activeSeconds = 0
  #rateNs = 0n
  #indirectNs = 0n
  #aheadNs = 0n
  #second = Number.NEGATIVE_INFINITY
  #requests = 0
  #meanRequests = 1
  #potNs = 0

  /** `session` is the name by which the agent allows indirect CPU. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, session: string) {
    this.#clock = clock
    this.#session = session
  }

  /** Indirect CPU on the bill of work that settles now, the taken part included. */
  of(tariff: Tariff, operation: OperationName, work: CausingWork): Indirect {
    this.#turn(tariff)
    const { activeSecond } = tariff.indirect
    const shareNs = Math.min(activeSecond.value, this.#potNs / Math.max(1, this.#meanRequests))
    const { ownNs } = work
    const wanted = wantedOf(tariff, operation, { ...work, shareNs })
    const cpuNs = this.#limited(tariff, wanted.cpuNs, work.takenNs)
    const rateNs = wanted.leastNs - unitsNs(tariff, operation, work.units)
    const bandPct = cpuNs === 0n ? Number(tariff.bandPct) : wanted.bandPct
    return { cpuNs, bandPct, shareNs, ownNs, rateNs: rateNs > 0n ? rateNs : 0n }
  }

  /** The most that work of an operation can be billed as it stands. */
  ceilingNs(
    tariff: Tariff,
    operation: OperationName,
    work: Pick<CausingWork, 'ownNs' | 'units'>,
  ): bigint {
    const shareNs = tariff.indirect.activeSecond.value
    return wantedOf(tariff, operation, { ...work, shareNs }).cpuNs
  }

  /**
   * Counts units that running work has done, in the window of their CPU. Returns the indirect CPU that is on its bill from
   * now on: at its end the credit of that window may be gone. Their CPU is spent, though no window has seen it: it is billed
   * ahead of the windows, and no more of it than the statement can have used.
   */
  grow(tariff: Tariff, operation: OperationName, done: DoneUnits, work: CausingWork): bigint {
    this.#usageOf(unitOf(operation)).requests += done.count
    const countedNs = unitsNs(tariff, operation, work.units - done.count)
    this.#rateNs += unitsNs(tariff, operation, work.units) - countedNs
    const wanted = wantedOf(tariff, operation, { ...work, shareNs: 0 })
    const seenNs = this.#limited(tariff, wanted.cpuNs, work.takenNs)
    const mostNs = work.takenNs + this.#aheadNsOf(tariff, done)
    const spentNs = mostNs < wanted.cpuNs ? mostNs : wanted.cpuNs
    const aheadNs = spentNs > seenNs ? spentNs - seenNs : 0n
    this.#aheadNs += aheadNs
    this.#indirectNs += seenNs + aheadNs - work.takenNs
    return seenNs + aheadNs
  }

  /**
   * One process of the state has used no more. Bills ahead that the agent has not seen, and the debt, are no more than a
   * second together.
   */
  #aheadNsOf({ indirect }: Tariff, { elapsedMs }: DoneUnits): bigint {
    const allowedNs = indirect.allowedNs?.[this.#session]
    if (allowedNs === undefined) return 0n
    const unseenNs = this.#aheadNs - BigInt(indirect.seenAheadNs?.[this.#session] ?? 0)
    const debtNs = this.#indirectNs - this.#aheadNs - BigInt(allowedNs)
    const leftNs = AHEAD_MAX_NS - unseenNs - (debtNs > 0n ? debtNs : 0n)
    const elapsedNs = BigInt(Math.floor(elapsedMs * NS_PER_MS))
    if (leftNs <= 0n) return 0n
    return leftNs < elapsedNs ? leftNs : elapsedNs
  }

  /** The taken part stays; the rest is limited by the spent CPU. */
  #limited(tariff: Tariff, wantedNs: bigint, takenNs: bigint): bigint {
    const mostNs = takenNs + this.#leftNs(tariff)
    if (wantedNs <= takenNs) return takenNs
    return wantedNs < mostNs ? wantedNs : mostNs
  }

  /** The spent CPU that this process may still bill: so a load that ends or grows never bills what nobody spent. */
  #leftNs({ indirect: { allowedNs } }: Tariff): bigint {
    const leftNs = BigInt(allowedNs?.[this.#session] ?? 0) - (this.#indirectNs - this.#aheadNs)
    return leftNs > 0n ? leftNs : 0n
  }

  #usageOf(operation: string): { requests: number; ownNs: number } {
    let usage = this.#operations.get(operation)
    if (usage === undefined) this.#operations.set(operation, (usage = { requests: 0, ownNs: 0 }))
    return usage
  }

  /** Counts settled work, and its billed indirect CPU without the part that was taken before. */
  settled(operation: OperationName, { shareNs, ownNs, rateNs }: Indirect, billedNs: bigint): void {
    const usage = this.#usageOf(operation)
    usage.requests++
    usage.ownNs += ownNs
    this.#requests++
    this.#potNs -= shareNs
    if (operation !== UNATTRIBUTED) this.#rateNs += rateNs
    this.#indirectNs += billedNs
  }

  /** Totals since this process began. */
  get activity(): Activity {
    return {
      operations: new Map(this.#operations.entries().map(([name, usage]) => [name, { ...usage }])),
      activeSeconds: this.#activeSeconds,
      rateNs: this.#rateNs,
      indirectNs: this.#indirectNs,
      aheadNs: this.#aheadNs,
    }
  }

  #turn(tariff: Tariff): void {
    const second = Math.floor(this.#clock.monotonicMs() / 1000)
    if (second === this.#second) return
    if (second - this.#second > PAUSE_S) {
      this.#meanRequests = 1
      this.#potNs = 0
    } else this.#meanRequests += (this.#requests - this.#meanRequests) / DECAY
    const { value } = tariff.indirect.activeSecond
    this.#potNs = Math.min(POT_SECONDS_MAX * value, this.#potNs + value)
    this.#second = second
    this.#requests = 0
    this.#activeSeconds++
  }
}

/** The addition of units to the part of a request by the rates. */
function unitsNs(tariff: Tariff, operation: OperationName, units: number): bigint {
  if (units === 0) return 0n
  const of = (count: number) =>
    wantedOf(tariff, operation, { ownNs: 0, units: count, shareNs: 0 }).leastNs
  const addedNs = of(units) - of(0)
  return addedNs > 0n ? addedNs : 0n
}

type RequestPart = Pick<Indirect, 'cpuNs' | 'bandPct'> & {
  /** Before the level. */
  readonly leastNs: bigint
}

/** The billed part of a request, and the band of its energy. */
function wantedOf(
  { indirect, bandPct }: Tariff,
  operation: OperationName,
  size: Pick<CausingSize, 'ownNs' | 'units' | 'shareNs'>,
): RequestPart {
  const { value, deviation, least } = learnedPartOf(indirect, operation, { ...size, requests: 1 })
  if (least === 0) return { leastNs: 0n, cpuNs: 0n, bandPct: Number(bandPct) }
  const learnedPct = (100 * DEVIATIONS * deviation) / value
  return {
    leastNs: BigInt(Math.floor(least)),
    cpuNs: BigInt(Math.floor((least * indirect.levelMilli) / 1000)),
    bandPct: Math.min(100, Math.ceil(Math.hypot(Number(bandPct), learnedPct))),
  }
}
