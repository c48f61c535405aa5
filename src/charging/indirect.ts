// The part of a charge for CPU that the request causes in shared cells: PostgreSQL, signers, sealer, upkeep. The agent
// learns the rates (metering/indirect.ts) from the counts that are kept here.
//
// An active second costs the same for one request as for a hundred: each takes its share of a pot, which gets
// the cost of a second when one begins. So no more is ever billed than there were active seconds.
import type { Clock } from '#base/clock.ts'
import type { Activity } from '#metering/indirect.ts'
import type { IndirectRates } from '#contract/indirect-rates.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Tariff } from './tariff.ts'

/** Indirect CPU on the bill of one piece of work. */
export type Indirect = {
  readonly cpuNs: bigint
  /** With the band of the tariff. */
  readonly bandPct: number
  /** Of the pot, before the level. */
  readonly shareNs: number
  /** The own CPU of the work. */
  readonly ownNs: number
}

/** The most seconds whose cost the pot holds. */
const POT_SECONDS_MAX = 4
/** Active seconds over which the requests of a second are averaged. */
const DECAY = 4
/** Seconds without a request after which the next one is the first again. */
const PAUSE_S = 10
/** Standard deviations of a band: 19 of 20 are within. */
const DEVIATIONS = 2

export class IndirectBills {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #session: string
  readonly #operations = new Map<string, { requests: number; ownNs: number }>()
  #activeSeconds = 0
  #indirectNs = 0n
  #second = Number.NEGATIVE_INFINITY
  #requests = 0
  #meanRequests = 1
  #potNs = 0

  /** `session` is the name by which the agent allows indirect CPU. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, session: string) {
    this.#clock = clock
    this.#session = session
  }

  /** Indirect CPU on the bill of work with `ownNs` of own CPU that settles now. */
  of(tariff: Tariff, operation: OperationName, ownNs: number): Indirect {
    this.#turn(tariff)
    const { activeSecond } = tariff.indirect
    const shareNs = Math.min(activeSecond.value, this.#potNs / Math.max(1, this.#meanRequests))
    const wanted = wantedOf(tariff, operation, { ownNs, shareNs })
    const leftNs = this.#leftNs(tariff)
    const cpuNs = wanted.cpuNs < leftNs ? wanted.cpuNs : leftNs
    const bandPct = cpuNs === 0n ? Number(tariff.bandPct) : wanted.bandPct
    return { cpuNs, bandPct, shareNs, ownNs }
  }

  /** The most that work of an operation can be billed, given its own CPU. */
  ceilingNs(tariff: Tariff, operation: OperationName, ownNs: number): bigint {
    const shareNs = tariff.indirect.activeSecond.value
    return wantedOf(tariff, operation, { ownNs, shareNs }).cpuNs
  }

  /** The spent CPU that this process may still bill: so a load that ends or grows never bills what nobody spent. */
  #leftNs({ indirect: { allowedNs } }: Tariff): bigint {
    const leftNs = BigInt(allowedNs?.[this.#session] ?? 0) - this.#indirectNs
    return leftNs > 0n ? leftNs : 0n
  }

  /** Counts settled work, and its billed indirect CPU. */
  settled(operation: OperationName, { shareNs, ownNs }: Indirect, billedNs: bigint): void {
    let usage = this.#operations.get(operation)
    if (usage === undefined) this.#operations.set(operation, (usage = { requests: 0, ownNs: 0 }))
    usage.requests++
    usage.ownNs += ownNs
    this.#requests++
    this.#potNs -= shareNs
    this.#indirectNs += billedNs
  }

  /** Totals since this process began. */
  get activity(): Activity {
    return {
      operations: new Map(this.#operations.entries().map(([name, usage]) => [name, { ...usage }])),
      activeSeconds: this.#activeSeconds,
      indirectNs: this.#indirectNs,
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

/** The size of one request. */
type RequestSize = {
  /** CPU of its own process. */
  readonly ownNs: number
  /** Its share of an active second's cost. */
  readonly shareNs: number
}

/** The indirect CPU of a request, before the level; undefined for an operation that nobody has seen. */
function causedBy(
  { operations, activeSecond }: IndirectRates,
  operation: string,
  { ownNs, shareNs }: RequestSize,
): { readonly value: number; readonly deviation: number } | undefined {
  const rate = operations[operation]
  if (rate === undefined) return undefined
  const { own, covariances } = rate
  const ownMs = ownNs / 1e6
  const seconds = activeSecond.value === 0 ? 0 : shareNs / activeSecond.value
  const variance =
    rate.deviation ** 2 +
    (ownMs * own.deviation) ** 2 +
    (seconds * activeSecond.deviation) ** 2 +
    2 * ownMs * covariances.requestOwn +
    2 * seconds * covariances.requestActive +
    2 * ownMs * seconds * covariances.ownActive
  return {
    value: rate.value + ownMs * own.value + shareNs,
    deviation: Math.sqrt(Math.max(0, variance)),
  }
}

/**
 * The part of a request, and the band of its energy. Nothing while the estimate's deviation is above the estimate: then
 * it is not known whether the request causes anything, and the operator absorbs that.
 */
function wantedOf(
  { indirect, bandPct }: Tariff,
  operation: OperationName,
  size: RequestSize,
): Pick<Indirect, 'cpuNs' | 'bandPct'> {
  const caused = causedBy(indirect, operation, size)
  const nothing = { cpuNs: 0n, bandPct: Number(bandPct) }
  if (caused === undefined || caused.value === 0 || caused.deviation > caused.value) return nothing
  const learnedPct = (100 * DEVIATIONS * caused.deviation) / caused.value
  return {
    cpuNs: BigInt(Math.floor((caused.value * indirect.levelMilli) / 1000)),
    bandPct: Math.min(100, Math.ceil(Math.hypot(Number(bandPct), learnedPct))),
  }
}
