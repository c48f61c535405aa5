// The part of a charge for what the request causes in cells that serve all requests (PostgreSQL, signers, sealer,
// upkeep): by the rates that the agent has learned (metering/indirect.ts), and the counts that it learns from.
//
// An active second costs the same for one request as for a hundred: each takes its share of a pot, which gets
// the cost of a second when one begins. So no more is ever billed than there were active seconds.
import type { Clock } from '#base/clock.ts'
import type { Activity } from '#metering/indirect.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Tariff } from './tariff.ts'

/** What work is billed of indirect CPU. */
export type Indirect = {
  readonly cpuNs: bigint
  /** With the band of the tariff. */
  readonly bandPct: number
  /** Of the pot, before the level. */
  readonly shareNs: number
}

/** The pot holds the cost of so many seconds at most. */
const POT_SECONDS_MAX = 4
/** Requests of a second, averaged over about so many active seconds. */
const DECAY = 4
/** After so many seconds without a request the next one is the first again. */
const PAUSE_S = 10
/** A band is so many standard deviations: 19 of 20 are within. */
const DEVIATIONS = 2

export class IndirectBills {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #session: string
  readonly #operations = new Map<string, number>()
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

  /** What work of an operation is billed when it settles now. */
  of(tariff: Tariff, operation: OperationName): Indirect {
    this.#turn(tariff)
    const { activeSecond } = tariff.indirect
    const shareNs = Math.min(activeSecond.value, this.#potNs / Math.max(1, this.#meanRequests))
    const wantedNs = cpuOf(tariff, operation, shareNs)
    const cpuNs = wantedNs < this.#leftNs(tariff) ? wantedNs : this.#leftNs(tariff)
    return { cpuNs, bandPct: bandOf(tariff, operation), shareNs }
  }

  /** The most that work of an operation can be billed. */
  ceilingNs(tariff: Tariff, operation: OperationName): bigint {
    return cpuOf(tariff, operation, tariff.indirect.activeSecond.value)
  }

  /** The spent CPU that this process may still bill: so a load that ends or grows never bills what nobody spent. */
  #leftNs({ indirect: { allowedNs } }: Tariff): bigint {
    const leftNs = BigInt(allowedNs?.[this.#session] ?? 0) - this.#indirectNs
    return leftNs > 0n ? leftNs : 0n
  }

  /** Counts settled work, and what it was billed of indirect CPU. */
  settled(operation: OperationName, { shareNs }: Indirect, billedNs: bigint): void {
    this.#operations.set(operation, (this.#operations.get(operation) ?? 0) + 1)
    this.#requests++
    this.#potNs -= shareNs
    this.#indirectNs += billedNs
  }

  /** Totals since this process began. */
  get activity(): Activity {
    return {
      operations: this.#operations,
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

/** How the indirect CPU of an operation is known: the band of its energy. */
export function bandOf({ bandPct, indirect }: Tariff, operation: OperationName): number {
  const rate = indirect.operations[operation]
  if (rate === undefined || rate.value === 0) return Number(bandPct)
  const learnedPct = (100 * DEVIATIONS * rate.deviation) / rate.value
  return Math.min(100, Math.ceil(Math.hypot(Number(bandPct), learnedPct)))
}

function cpuOf({ indirect }: Tariff, operation: OperationName, shareNs: number): bigint {
  const rate = indirect.operations[operation]
  // Of an operation that was not seen yet nothing is known, nor whether it causes anything.
  if (rate === undefined) return 0n
  return BigInt(Math.floor(((rate.value + shareNs) * indirect.levelMilli) / 1000))
}
